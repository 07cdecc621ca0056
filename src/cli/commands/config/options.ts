/**
 * Shared by the commands of `t8s config`: options, the locations of kubeconfigs, and choosing a context from a list.
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

/** The name of a context, which can also be given without -n. */
export const nameOption = (): Option => new Option('-n, --name <NAME>', 'the name of the context')

export const print = (...lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(''))

export const quoted = (name: string): string => JSON.stringify(name)

/** The files that kubectl would read, and the file that it would write. */
export async function locations({ kubeconfig }: FileFlags) {
  const { kubeconfigLocations } = await import('../../../tools/config/files/locations.ts')
  return kubeconfigLocations(process.env, kubeconfig)
}

/** The name from the argument or from -n, if any. Throws an ExplainedError for two different names. */
export function givenName(argument: string | undefined, { name }: NameFlags): string | undefined {
  if (argument !== undefined && name !== undefined && argument !== name)
    throw new ExplainedError(`two names, ${quoted(argument)} and ${quoted(name)}: give one`)
  return argument ?? name
}

/** Lets the user choose a context. Rejects with an ExplainedError without a terminal, and if nothing is chosen. */
export async function chosenName(flags: FileFlags, title: string, command: string): Promise<string> {
  const [{ contextOverviews }, { openTerminal }, { choose }] = await Promise.all([
    import('../../../tools/config/contexts/overview.ts'),
    import('../../terminal/terminal.ts'),
    import('../../terminal/choose.ts'),
  ])
  const { files } = await locations(flags)
  const contexts = await contextOverviews(files)
  if (contexts.length === 0)
    throw new ExplainedError(`there are no contexts in ${files.join(', ')}: import one with t8s config import`)
  const terminal = openTerminal()
  if (!terminal)
    throw new ExplainedError(`no context is given, and there is no terminal to choose one: use ${command} NAME`)
  try {
    const items = contexts.map(({ name, server, current }) => ({
      name,
      note: `${server}${current ? ' (current)' : ''}`,
    }))
    const chosen = await choose(terminal, title, items, contexts.find(({ current }) => current)?.name)
    if (chosen === undefined) throw new ExplainedError('nothing was chosen, so nothing was changed')
    return chosen
  } finally {
    terminal.close()
  }
}
