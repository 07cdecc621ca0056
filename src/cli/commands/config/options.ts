/**
 * What commands of `t8s config` have in common: options, where kubeconfigs are, and a name that may be chosen from a
 * list.
 */
import { Option } from 'commander'
import { ExplainedError } from '../../../lib/explained-error.ts'

export interface FileFlags {
  readonly kubeconfig?: string
}

export interface NameFlags extends FileFlags {
  readonly name?: string
}

export const kubeconfigOption = (): Option =>
  new Option('--kubeconfig <FILE>', 'the kubeconfig (default: those of $KUBECONFIG, else ~/.kube/config)')

/** The context of that name, which may also stand without -n. */
export const nameOption = (): Option => new Option('-n, --name <NAME>', 'the name of the context')

export const print = (...lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(''))

export const quoted = (name: string): string => JSON.stringify(name)

/** The files that kubectl would read, and the one that it would write. */
export async function locations({ kubeconfig }: FileFlags) {
  const { kubeconfigLocations } = await import('../../../kubeconfig/files/locations.ts')
  return kubeconfigLocations(process.env, kubeconfig)
}

/**
 * A name that was given in one of two ways; undefined if it was not. Throws an ExplainedError for two different ones.
 */
export function givenName(argument: string | undefined, { name }: NameFlags): string | undefined {
  if (argument !== undefined && name !== undefined && argument !== name)
    throw new ExplainedError(`there are two names, ${quoted(argument)} and ${quoted(name)}: give one`)
  return argument ?? name
}

/**
 * A context that somebody chooses from a list. Rejects with an ExplainedError where nobody is at a terminal, and when
 * nothing is chosen.
 */
export async function chosenName(flags: FileFlags, title: string, command: string): Promise<string> {
  const [{ contextOverviews }, { openTerminal }, { choose }] = await Promise.all([
    import('../../../kubeconfig/contexts/overview.ts'),
    import('../../terminal/terminal.ts'),
    import('../../terminal/choose.ts'),
  ])
  const { files } = await locations(flags)
  const contexts = await contextOverviews(files)
  if (contexts.length === 0)
    throw new ExplainedError(`there are no contexts in ${files.join(', ')}: t8s config import brings one`)
  const terminal = openTerminal()
  if (!terminal) throw new ExplainedError(`which context? Nobody is at a terminal to choose one: ${command} NAME`)
  try {
    const items = contexts.map(({ name, server, current }) => ({
      name,
      note: `${server}${current ? ' (current)' : ''}`,
    }))
    const chosen = await choose(terminal, title, items, contexts.find(({ current }) => current)?.name)
    if (chosen === undefined) throw new ExplainedError('nothing was chosen: nothing was changed')
    return chosen
  } finally {
    terminal.close()
  }
}
