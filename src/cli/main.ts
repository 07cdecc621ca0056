/**
 * The command line: commands, help and how errors are shown. The command that is named is loaded alone, and loads what
 * it needs when it runs.
 */
import { Command } from 'commander'
import { ExplainedError, errorCode, reasonOf } from '../lib/explained-error.ts'
import { release } from '../lib/release.ts'
import { commandsFor } from './commands/index.ts'

const examples = `
Examples:
  t8s up                                 start a cluster that keeps its data in .t8s
  t8s up --secure-port 0                 the same on any free port
  t8s up --nodes 5 --node-cpu 8          with five simulated nodes; --nodes 0 for none
  t8s up --data-dir /tmp/try -v 2        elsewhere, and with more to read
  export KUBECONFIG=.t8s/kubeconfig      then kubectl, helm and all other clients work

  t8s controller-manager --kubeconfig kubeconfig
                                         run the controllers alone, for any cluster

  t8s scale nodes 20                     more simulated nodes, while it runs
  t8s node fail node-2 --how gone        to see what controllers do
  t8s simulated-nodes --nodes 100        simulated nodes alone, in any cluster

  t8s why can-i jane list pods           which bindings allow it, or what is missing
  t8s why pod web -n shop                which nodes refuse it and what would help, or which scores they get

  t8s explain-panic crash.log            why a Go program crashed

  t8s snapshot save backup.t8s           copy the data of a cluster, running or not
  t8s snapshot restore backup.t8s --data-dir restored

  t8s config list                        your kubeconfigs' contexts, and until when they are good
  t8s config import dev --from=ssh://root@10.0.0.7:/etc/kubernetes/admin.conf

  t8s envtest-assets bin                 write kube-apiserver and etcd for Go's envtest into bin

't8s help COMMAND' lists a command's flags.`

/** Their help lists the flags of upstream's, so that it is their own affair. */
const componentNames = new Set(['apiserver', 'controller-manager'])

/** Errors with this verbosity or more show where they come from. */
const stackVerbosity = 4

/** Runs the command that `argv` names and sets the exit code. Shows errors; never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader that goes away (`t8s up | head -1`) is no reason to stop serving.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  let verbosity = 0
  const program = new Command('t8s')
    .description('Kubernetes in TypeScript: a real API server, started by one command.')
    .version(`t8s ${release}`, '--version', 'show the version of t8s')
    .helpOption('-h, --help', 'show help')
    // Flags behind a command are the command's.
    .enablePositionalOptions()
    .helpCommand('help [COMMAND]', 'show help for a command')
    .addHelpText('after', examples)
    .hook('preAction', (_program, command) => {
      verbosity = command.opts<{ v?: number }>().v ?? 0
    })
    .configureOutput({ outputError: (text, write) => write(`t8s: ${text.replace(/^error: /, '')}`) })
  for (const command of await commandsFor(argv[2])) {
    program.addCommand(command.copyInheritedSettings(program))
    for (const below of command.commands) below.copyInheritedSettings(program)
    if (componentNames.has(command.name())) command.helpOption(false)
  }
  if (argv[2] === '__complete') program.addCommand(await completion(program), { hidden: true })
  try {
    await program.parseAsync(argv)
  } catch (error) {
    process.stderr.write(`t8s: ${explain(error, verbosity)}\n`)
    process.exitCode = 1
  }
}

/** What shells call. It is told of all other commands. */
const completion = async (program: Command): Promise<Command> =>
  (await import('./commands/completion.ts')).completeCommand().copyInheritedSettings(program)

/** The sentence for the terminal. Errors that were not foreseen keep their message and say how to see more. */
function explain(error: unknown, verbosity: number): string {
  if (verbosity >= stackVerbosity && error instanceof Error)
    return `${error.stack}${error.cause instanceof Error ? `\ncaused by ${error.cause.stack}` : ''}`
  if (error instanceof ExplainedError || (error instanceof Error && error.name === 'StoreOpenError'))
    return error.message
  return `${reasonOf(error)} (the same command with -v ${stackVerbosity} shows where this comes from)`
}

function ignoreClosedPipe(error: Error): void {
  if (errorCode(error) !== 'EPIPE') throw error
}
