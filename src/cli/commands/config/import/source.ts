/** The source of `t8s config import`, from its flags and arguments. */
import { readSync } from 'node:fs'
import { homedir } from 'node:os'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
import type { ConfigDocument } from '../../../../tools/config/documents/config-document.ts'
import { localPlaces } from '../../../../tools/config/import/local-places.ts'
import { type ConfigSource, fileSource, inputSource, sshSource } from '../../../../tools/config/import/source.ts'
import { parseSshHost } from '../../../../tools/config/import/ssh/settings/ssh-address.ts'
import { askSecret, askYesNo } from '../../../terminal/ask.ts'
import { choose } from '../../../terminal/choose.ts'
import type { Terminal } from '../../../terminal/terminal.ts'

export interface SourceFlags {
  readonly file?: string
  readonly from?: string
  readonly password?: string
  readonly passwordFd?: string
  readonly identity?: readonly string[]
  readonly jump?: string
  readonly sshConfig?: string
}

/** The source to read, and its default context. */
export interface ChosenSource {
  readonly source: ConfigSource
  contexts(document: ConfigDocument): Promise<string | undefined>
}

const nowhere = 'no source: use -l FILE, --from=ssh://HOST/PATH, --from=local, or - for standard input'

/** Reads the name and the source from arguments and flags. Throws an ExplainedError for no source, and for several. */
export function importInput(
  first: string | undefined,
  second: string | undefined,
  { file, from }: SourceFlags,
): { readonly name: string | undefined; readonly source: string } {
  const dash = second ?? (first === '-' ? first : undefined)
  if (second !== undefined && second !== '-')
    throw new ExplainedError(
      `unexpected argument ${JSON.stringify(second)}: give one name, and -l FILE, --from or - for the source`,
    )
  const sources = [dash, file, from].filter((source) => source !== undefined)
  const [source] = sources
  if (source === undefined) throw new ExplainedError(nowhere)
  if (sources.length > 1 && new Set(sources).size > 1)
    throw new ExplainedError(`several sources, ${sources.join(' and ')}: give one`)
  return { name: first === '-' ? undefined : first, source }
}

/** Opens the source. Rejects with an ExplainedError. */
export async function sourceOf(
  input: string,
  flags: SourceFlags,
  taken: readonly string[],
  terminal: Terminal | undefined,
): Promise<ChosenSource> {
  const any = async (): Promise<undefined> => undefined
  if (input === '-') return { source: await inputSource(process.stdin), contexts: any }
  if (flags.from === undefined) return { source: await fileSource(input), contexts: any }
  if (input === 'local') return localSourceOf(taken, terminal)
  if (!/^ssh:\/\//i.test(input))
    throw new ExplainedError(
      `invalid --from ${JSON.stringify(input)}: use ssh://[USER@]HOST[:PORT]/PATH, local or -, or -l for a file on ` +
        'this machine',
    )
  const password = flags.passwordFd === undefined ? flags.password : passwordFrom(flags.passwordFd)
  const source = await sshSource(input, {
    home: home(),
    environment: process.env,
    configFile: flags.sshConfig,
    identityFiles: flags.identity,
    password,
    jumps: flags.jump?.split(',').map((hop) => parseSshHost(hop.trim())),
    asker: terminal && {
      secret: (question) => askSecret(terminal, question),
      confirm: (question, defaultAnswer) => askYesNo(terminal, question, defaultAnswer),
    },
  })
  return { source, contexts: any }
}

const home = (): string => process.env.HOME || homedir()

async function localSourceOf(taken: readonly string[], terminal: Terminal | undefined): Promise<ChosenSource> {
  const places = localPlaces(home(), taken)
  const [first] = places
  if (!first) {
    throw new ExplainedError(
      'found no readable kubeconfig of k3s, kubeadm or kind in its default path on this machine: name the file ' +
        'with -l, or run as a user who can read it',
    )
  }
  const items = places.map(({ what, file }) => ({ name: file, note: what }))
  if (places.length > 1 && !terminal)
    throw new ExplainedError(
      'found several kubeconfigs on this machine ' +
        `(${items.map(({ name, note }) => `${name} of ${note}`).join(', ')}): choose one with -l`,
    )
  const file = places.length > 1 && terminal ? await choose(terminal, 'Import which kubeconfig?', items) : first.file
  const place = places.find((one) => one.file === file)
  if (!place) throw new ExplainedError('nothing was chosen, so nothing was changed')
  return {
    source: await fileSource(place.file),
    async contexts(document) {
      if (!place.contexts) return undefined
      const names = document.names('context').filter((name) => place.contexts!.test(name))
      if (names.length === 0)
        throw new ExplainedError(`${place.file} has no context of ${place.what}: name another file with -l`)
      if (names.length === 1) return names[0]
      if (!terminal)
        throw new ExplainedError(
          `${place.file} has several contexts of ${place.what}: choose one with --context (${names.join(', ')})`,
        )
      const chosen = await choose(
        terminal,
        'Import which context?',
        names.map((name) => ({ name, note: '' })),
      )
      if (chosen === undefined) throw new ExplainedError('nothing was chosen, so nothing was changed')
      return chosen
    },
  }
}

/** Reads the first line from a file descriptor. Throws an ExplainedError if it cannot be read. */
function passwordFrom(descriptor: string): string {
  if (!/^\d{1,6}$/.test(descriptor))
    throw new ExplainedError(
      `invalid --password-fd ${JSON.stringify(descriptor)}: it must be the number of a file descriptor`,
    )
  const bytes: number[] = []
  const byte = Buffer.alloc(1)
  try {
    // Byte by byte, so that the rest stays readable for others.
    while (readSync(Number(descriptor), byte) === 1 && byte[0] !== 10) bytes.push(byte[0]!)
  } catch (error) {
    throw new ExplainedError(
      `cannot read a password from file descriptor ${descriptor}: ${reasonOf(error)}; open it, as in: ` +
        '--password-fd 3 3< FILE',
      { cause: error },
    )
  }
  const password = Buffer.from(bytes).toString().replace(/\r$/, '')
  if (password === '') throw new ExplainedError(`file descriptor ${descriptor} has no password: nothing was changed`)
  return password
}
