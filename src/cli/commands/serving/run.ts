/** `t8s run`: runs a command with a new cluster in memory, which ends with the command. */
import { join } from 'node:path'
import { Command, Option } from 'commander'
import type { Cluster } from '../../../cluster/cluster-options.ts'
import { writeKubeconfig } from '../../../kubeconfig/write.ts'
import { ProcessFolders } from '../../../lib/process/process-folders.ts'
import { type NodeFlags, nodeFlags, simulatedNodes } from '../../flags/nodes/node-flags.ts'
import { upFlags } from '../../flags/up-flags.ts'
import { type ChildExit, endAs, runChild, SignalsForChild } from '../../running/child/child-command.ts'
import type { CommandTrace } from '../../running/command-trace.ts'
import { startObjects } from '../../running/start-objects.ts'

const examples = `
The cluster is in memory, on a free port of 127.0.0.1, with simulated nodes, whose pods get ready without running
anything. KUBECONFIG is set for the command. The exit code is that of the command.

Examples:
  t8s run -- kubectl get namespaces
  t8s run -- npm test
  t8s run --trace-on-failure trace.html -- pytest
  t8s run --manifests deploy/ --wait -- ./smoke-test.sh
  t8s run --nodes 3 -- sh -c 'kubectl create -f app.yaml && kubectl wait --for=condition=Ready pod --all'`

interface RunFlags extends NodeFlags {
  readonly controllers: string
  readonly manifests?: readonly string[]
  readonly wait?: number
  readonly runtimeConfig?: readonly string[]
  readonly serviceClusterIpRange?: string
  readonly trace?: string
  readonly traceOnFailure?: string
  readonly v: number
}

/** Flags of `t8s up` that a cluster in memory has, too. */
const sharedFlags: ReadonlySet<string> = new Set([
  '--controllers',
  '--manifests',
  '--wait',
  '--runtime-config',
  '--service-cluster-ip-range',
  '--v',
])

export function runCommand(): Command {
  const command = new Command('run')
    .argument('<COMMAND...>', 'the command and its arguments, after --')
    .description('run a command with a new cluster, which ends with the command')
    // Flags after the command's name are those of the command.
    .passThroughOptions()
    .addHelpText('after', examples)
    .action(run)
  const [count, ...otherNodeFlags] = nodeFlags()
  for (const flag of [
    new Option('--nodes <NUMBER>', 'number of simulated nodes; 0 for none').default(1).argParser(count!.parseArg!),
    ...otherNodeFlags,
    new Option('--trace <FILE>', 'write a trace of the run: an HTML file with all requests and versions of objects'),
    new Option('--trace-on-failure <FILE>', 'the same, only if the command fails').conflicts('trace'),
    ...upFlags().filter(({ long }) => long && sharedFlags.has(long)),
  ])
    command.addOption(flag)
  return command
}

async function run(words: readonly string[], flags: RunFlags): Promise<void> {
  const signals = new SignalsForChild()
  const exit = await withCluster(words, flags, signals).finally(() => signals.release())
  endAs(exit)
}

async function withCluster(words: readonly string[], flags: RunFlags, signals: SignalsForChild): Promise<ChildExit> {
  const { runCluster } = await import('../../../cluster/run-cluster.ts')
  const nodes = await simulatedNodes(flags)
  const cluster = await runCluster({
    storage: 'memory',
    port: 0,
    nodes,
    scheduler: nodes.count !== 0,
    controllers: flags.controllers.split(',').filter(Boolean),
    runtimeConfig: flags.runtimeConfig,
    serviceClusterIpRange: flags.serviceClusterIpRange,
    verbosity: flags.v,
    testControl: flags.trace !== undefined || flags.traceOnFailure !== undefined,
    // The standard output is the command's.
    log: flags.v > 0 ? print : undefined,
  })
  try {
    const log = flags.v > 0 ? print : () => {}
    const objects = await startObjects(cluster, { manifests: flags.manifests, wait: flags.wait }, log)
    await objects.close()
    await cluster.synced
    if (signals.early) return { code: 1, signal: signals.early }
    using folder = new ProcessFolders('t8s-run-').create()
    const kubeconfig = join(folder.path, 'kubeconfig')
    writeKubeconfig(kubeconfig, cluster.kubeconfigYaml)
    if (flags.v > 0) print(`serving on ${cluster.url}, started in ${Math.round(performance.now())} ms`)
    const trace = await beginTrace(cluster, words, flags)
    const exit = await runChild(words, { ...process.env, KUBECONFIG: kubeconfig }, signals, (reason) => print(reason))
    await trace?.end(exit)
    return exit
  } finally {
    await cluster.stop({ graceMs: 0 })
  }
}

async function beginTrace(
  cluster: Cluster,
  words: readonly string[],
  { trace, traceOnFailure }: RunFlags,
): Promise<CommandTrace | undefined> {
  const file = trace ?? traceOnFailure
  if (file === undefined) return undefined
  const { beginCommandTrace } = await import('../../running/command-trace.ts')
  return beginCommandTrace(cluster, words, { file, isOnlyForFailure: trace === undefined, print })
}

const print = (line: string): void => void process.stderr.write(`t8s: ${line}\n`)
