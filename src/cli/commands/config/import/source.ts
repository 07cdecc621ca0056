/** Where `t8s config import` reads from, as flags and arguments say it. */
import { readSync } from 'node:fs'
import { homedir } from 'node:os'
import type { ConfigDocument } from '../../../../kubeconfig/documents/config-document.ts'
import { localPlaces } from '../../../../kubeconfig/import/local-places.ts'
import { type ConfigSource, fileSource, inputSource, sshSource } from '../../../../kubeconfig/import/source.ts'
import { parseSshHost } from '../../../../kubeconfig/import/ssh/ssh-address.ts'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
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

/** What is read, and which of its contexts may be meant where nobody has said one. */
export interface ChosenSource {
  readonly source: ConfigSource
  contexts(document: ConfigDocument): Promise<string | undefined>
}

const nowhere = 'import from where? Say -l FILE, --from=ssh://HOST/PATH, --from=local, or - for standard input'

/**
 * The name and the source that the two arguments and the flags say together. Throws an ExplainedError for none, and for
 * two.
 */
export function importInput(
  first: string | undefined,
  second: string | undefined,
  { file, from }: SourceFlags,
): { readonly name: string | undefined; readonly source: string } {
  const dash = second ?? (first === '-' ? first : undefined)
  if (second !== undefined && second !== '-')
    throw new ExplainedError(`${JSON.stringify(second)} is one name too many: ${nowhere}`)
  const sources = [dash, file, from].filter((source) => source !== undefined)
  const [source] = sources
  if (source === undefined) throw new ExplainedError(nowhere)
  if (sources.length > 1 && new Set(sources).size > 1)
    throw new ExplainedError(`import from ${sources.join(' or from ')}? Say one of them`)
  return { name: first === '-' ? undefined : first, source }
}

/** Opens what is to be read. Rejects with an ExplainedError that says what to do. */
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
      `--from takes ssh://[USER@]HOST[:PORT]/PATH, local, or -: ${JSON.stringify(input)} is none of them; a file ` +
        'of this machine is for -l',
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
      confirm: (question, usual) => askYesNo(terminal, question, usual),
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
      'neither k3s nor kubeadm nor kind has left a kubeconfig in its usual place on this machine, or this user ' +
        'may not look there: name the file by -l',
    )
  }
  const told = places.map(({ what, file }) => ({ name: file, note: what }))
  if (places.length > 1 && !terminal)
    throw new ExplainedError(
      'there are several kubeconfigs on this machine ' +
        `(${told.map(({ name, note }) => `${name} of ${note}`).join(', ')}): name one by -l`,
    )
  const file = places.length > 1 && terminal ? await choose(terminal, 'Import which kubeconfig?', told) : first.file
  const place = places.find((one) => one.file === file)
  if (!place) throw new ExplainedError('nothing was chosen: nothing was changed')
  return {
    source: await fileSource(place.file),
    async contexts(document) {
      if (!place.contexts) return undefined
      const names = document.names('context').filter((name) => place.contexts!.test(name))
      if (names.length === 0)
        throw new ExplainedError(`${place.file} has no context of ${place.what}: name another file by -l`)
      if (names.length === 1) return names[0]
      if (!terminal)
        throw new ExplainedError(
          `${place.file} has several contexts of ${place.what}: choose one by --context (${names.join(', ')})`,
        )
      const chosen = await choose(
        terminal,
        'Import which context?',
        names.map((name) => ({ name, note: '' })),
      )
      if (chosen === undefined) throw new ExplainedError('nothing was chosen: nothing was changed')
      return chosen
    },
  }
}

/** The first line that a file descriptor gives. Throws an ExplainedError for one that cannot be read. */
function passwordFrom(descriptor: string): string {
  if (!/^\d{1,6}$/.test(descriptor))
    throw new ExplainedError(
      `--password-fd takes the number of a file descriptor: ${JSON.stringify(descriptor)} is none`,
    )
  const bytes: number[] = []
  const byte = Buffer.alloc(1)
  try {
    // One at a time: what follows the line is for others.
    while (readSync(Number(descriptor), byte) === 1 && byte[0] !== 10) bytes.push(byte[0]!)
  } catch (error) {
    throw new ExplainedError(
      `cannot read a password from file descriptor ${descriptor}: ${reasonOf(error)}; open it, as in: ` +
        '--password-fd 3 3< FILE',
      {
        cause: error,
      },
    )
  }
  const password = Buffer.from(bytes).toString().replace(/\r$/, '')
  if (password === '') throw new ExplainedError(`file descriptor ${descriptor} gave no password: nothing was changed`)
  return password
}
