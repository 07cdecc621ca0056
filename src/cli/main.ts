/** The command line: commands, help and error output. Only the command that is run is loaded. */
import { Command } from 'commander'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { release } from '../lib/release.ts'
import { commandsFor, toolsGroup } from './commands/index.ts'
import { helpLayout } from './help-layout.ts'
import { surviveOutputErrors } from './running/output-errors.ts'

const examples = `
Examples:
  t8s up                             start a cluster with its data in .t8s
  export KUBECONFIG=.t8s/kubeconfig  then kubectl, helm and all others work
  t8s up --nodes 5 --node-cpu 8      with five simulated nodes; 0 for none
  t8s up --secure-port 0 -v 2        on any free port, with more log output
  t8s up --ingress                   serve Ingresses and Gateways, too

  t8s run -- npm test                run a command with a cluster of its own
  t8s up --detach --name dev         start a cluster in the background, then
  t8s list                           show it, and
  t8s down --name dev                stop it

  t8s scale nodes 20                 change the number of simulated nodes
  t8s node fail node-2 --how gone    see how controllers react
  t8s why can-i jane list pods       which bindings allow it, or what is missing
  t8s why pod web -n shop            which nodes reject it, and what would help

  t8s snapshot save backup.t8s       copy the data of a cluster, running or not
  t8s config list                    your contexts, and when credentials expire
  t8s envtest-assets bin             kube-apiserver and etcd for Go's envtest

't8s help COMMAND' lists a command's flags.`

/** Their own help lists upstream's flags. */
const componentNames = new Set(['apiserver', 'controller-manager', 'flannel', 'kubelet', 'proxy'])

/** With this verbosity or more, errors show their stacks. */
const stackVerbosity = 4

/** Runs the command in `argv` and sets the exit code. Prints errors; never rejects. */
export async function main(argv: readonly string[]): Promise<void> {
  surviveOutputErrors()
  let verbosity = 0
  const program = new Command('t8s')
    .description('Kubernetes in TypeScript: a real API server, started by one command.')
    .version(`t8s ${release}`, '--version', 'show the version of t8s')
    .helpOption('-h, --help', 'show help')
    // Flags after a command belong to it.
    .enablePositionalOptions()
    .configureHelp(helpLayout)
    .commandsGroup(toolsGroup)
    .helpCommand('help [COMMAND]', 'show help for a command')
    .addHelpText('after', examples)
    .hook('preAction', (_program, command) => {
      verbosity = command.opts<{ v?: number }>().v ?? 0
    })
    .configureOutput({ outputError: (text, write) => write(`t8s: ${errorText(text)}`) })
  for (const command of await commandsFor(argv[2])) {
    program.addCommand(command.copyInheritedSettings(program))
    for (const below of command.commands) below.copyInheritedSettings(program)
    if (componentNames.has(command.name())) command.helpOption(false)
  }
  if (argv[2] === '__complete') program.addCommand(await completion(program), { hidden: true })
  try {
    await program.parseAsync(argv)
  } catch (error) {
    const hint = error instanceof Error && error.name === 'FlagError' ? ` (t8s ${argv[2]} --help lists the flags)` : ''
    process.stderr.write(`t8s: ${explain(error, verbosity)}${hint}\n`)
    process.exitCode = 1
  }
}

/** The command that shells call; it inspects all other commands. */
const completion = async (program: Command): Promise<Command> =>
  (await import('./commands/completion.ts')).completeCommand().copyInheritedSettings(program)

/** An error of the command line, without commander's prefix. It suggests similar commands, if there are some. */
function errorText(text: string): string {
  const message = text.replace(/^error: /, '')
  const needsHint = message.startsWith('unknown command') && !message.includes('Did you mean')
  return needsHint ? message.replace(/\n$/, ' (t8s --help lists the commands)\n') : message
}

/** The message for the terminal. Unexpected errors also say how to see the stack. */
function explain(error: unknown, verbosity: number): string {
  if (verbosity >= stackVerbosity && error instanceof Error)
    return `${error.stack}${error.cause instanceof Error ? `\ncaused by ${error.cause.stack}` : ''}`
  if (error instanceof ExplainedError || (error instanceof Error && error.name === 'StoreOpenError'))
    return error.message
  return `${reasonOf(error)} (run the command with -v ${stackVerbosity} to see the stack)`
}
