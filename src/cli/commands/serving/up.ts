/** `t8s up`: runs a cluster in the foreground until a signal stops it. */
import { flushCompileCache } from 'node:module'
import { isatty } from 'node:tty'
import { Command } from 'commander'
import type { Cluster, ClusterOptions } from '../../../cluster/cluster-options.ts'
import { earlyRunner } from '../../../cluster/real-node/checks/decision.ts'
import type { RealNode } from '../../../cluster/real-node/index.ts'
import type { NodeRunner } from '../../../cluster/real-node/thread/node-runner.ts'
import { type Log, type LogFormat, standardLog } from '../../../lib/log/log.ts'
import { tuneAfterStart } from '../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../lib/process/unhandled-errors.ts'
import { dataDirectoryOf } from '../../detached/cluster-names.ts'
import {
  addApiServerOptions,
  addControllerOptions,
  givenApiServerFlags,
  givenControllerFlags,
} from '../../flags/component-options.ts'
import { clusterIngress } from '../../flags/ingress-flags.ts'
import { simulatedNodes } from '../../flags/nodes/node-flags.ts'
import { realNode } from '../../flags/nodes/real-node-flags.ts'
import { type UpFlags, upFlags } from '../../flags/up-flags.ts'
import { clusterPlace, withMemoryDefaults } from '../../running/cluster-place.ts'
import { type StartObjects, startObjects } from '../../running/start-objects.ts'
import { stopSignal } from '../../running/stop-signal.ts'
import { terminalLog } from '../../running/terminal-log.ts'
import { clusterRunsInNamespaces, publishedPort, runsInNamespaces } from '../../running/without-root.ts'

/** The given flags of other programs. */
type ComponentFlags = Required<Pick<ClusterOptions, 'apiServerFlags' | 'controllerFlags'>>

export function upCommand(): Command {
  const command = new Command('up')
    .description('start a cluster and run it until Ctrl-C')
    .addHelpText(
      'after',
      '\nFlags of kube-apiserver also work: --audit-log-path=audit.log, ' +
        '--enable-admission-plugins=AlwaysPullImages, …\n(t8s apiserver --help lists them)\nSo do those of ' +
        'controllers: --concurrent-deployment-syncs=10, --node-monitor-grace-period=20s, … (t8s controller-manager ' +
        '--help)',
    )
    .hook('preAction', async (command) => {
      const { config } = command.opts<UpFlags>()
      if (config !== undefined) (await import('../../flags/config-file.ts')).readConfigFile(command, config)
    })
    .action((given: UpFlags, command: Command) => {
      const isGiven = (flag: keyof UpFlags): boolean => command.getOptionValueSource(flag) !== 'default'
      const flags = withMemoryDefaults(withNameDefaults(given, command), isGiven)
      return up(flags, { apiServerFlags: serverFlags(flags, command), controllerFlags: givenControllerFlags(command) })
    })
  for (const flag of upFlags()) command.addOption(flag)
  addControllerOptions(command)
  addApiServerOptions(command)
  return command
}

/** Includes the flag of etcd, which this command has in its own help. */
const serverFlags = ({ etcdServers }: UpFlags, command: Command): readonly string[] => [
  ...(etcdServers ? [`--etcd-servers=${etcdServers}`] : []),
  ...givenApiServerFlags(command),
]

/** The flags with the data directory and the port that follow from a name. */
function withNameDefaults(flags: UpFlags, command: Command): UpFlags {
  if (flags.name === undefined) return flags
  const isDefault = (flag: string): boolean => command.getOptionValueSource(flag) === 'default'
  return {
    ...flags,
    ...(isDefault('dataDir') && { dataDir: dataDirectoryOf(flags.name, process.env) }),
    ...(isDefault('securePort') && { securePort: 0 }),
  }
}

async function up(flags: UpFlags, components: ComponentFlags): Promise<void> {
  if (flags.detach) {
    const { upDetached } = await import('./up-detached.ts')
    return upDetached(flags)
  }
  const real = realNode(flags, flags)
  // Machines need the root of this machine.
  if (flags.machines === undefined && (await movesToNamespaces(real, flags.bindAddress))) return
  const { requested: stopping } = stopSignal()
  const format = await givenLogFormat(components.apiServerFlags)
  const log = format ? standardLog(format) : print
  // Before the server is loaded, which takes the thread of this process alone.
  const early = flags.machines === undefined && real ? earlyRunner(real, log) : undefined
  try {
    await serveCluster(flags, components, { real, early, stopping, format, log })
  } finally {
    await early?.stop()
  }
}

interface Running {
  readonly real: RealNode | undefined
  /** The thread of the real node. */
  readonly early: NodeRunner | undefined
  /** Resolves with the name of the signal that stops it. */
  readonly stopping: Promise<string>
  /** Undefined for plain lines. */
  readonly format: LogFormat | undefined
  readonly log: Log
}

async function serveCluster(
  flags: UpFlags,
  components: ComponentFlags,
  { real, early, stopping, format, log }: Running,
): Promise<void> {
  const [{ runCluster }, { readIdentity }, { readFrontProxy }, { writeAccess }] = await Promise.all([
    import('../../../cluster/run-cluster.ts'),
    import('../../../cluster/credentials/identity-files.ts'),
    import('../../../cluster/credentials/front-proxy-files.ts'),
    import('./cluster-access.ts'),
  ])
  const nodes = { ...(await simulatedNodes(flags)), real, machines: flags.machines }
  const errorLog = standardLog(format)
  const place = clusterPlace(flags, errorLog)
  const options: ClusterOptions = {
    ...optionsOf(flags, components),
    port: await publishedPort(flags.bindAddress, flags.securePort),
    ingress: flags.ingress && (await clusterIngress(flags)),
    ...readIdentity(flags, print),
    ...readFrontProxy(flags),
    storage: place.storage,
    nodes,
    scheduler: needsScheduler(flags, real ? undefined : nodes.count) && {
      configurationFile: flags.schedulerConfig,
      onThread: true,
    },
    log,
  }
  const cluster = await runCluster(options, early).catch((error: unknown) => {
    place.end()
    throw error
  })
  let objects: StartObjects | undefined
  let endKeys = (): void => {}
  try {
    const starting = startObjects(cluster, flags, log)
    objects = await Promise.race([starting, stopping.then(() => undefined)])
    // Ends with an error if the cluster stops before.
    if (!objects) starting.catch(() => {})
    else {
      await writeAccess(flags, cluster, place, print)
      endKeys = await terminalKeys(cluster)
      surviveErrors(errorLog)
      flushCompileCache()
      void cluster.synced.then(tuneAfterStart)
    }
    log(`stopping after ${await stopping}: active requests may finish; a second signal stops immediately`)
  } finally {
    await objects?.close()
    // Until then, a second Ctrl-C stops immediately.
    await cluster.stop().finally(endKeys)
    place.end()
  }
  log('stopped')
}

/** Reads keys if this command runs on a terminal. The returned function ends that. */
async function terminalKeys({ client }: Cluster): Promise<() => void> {
  if (!isatty(0) || !isatty(1)) return () => {}
  const { showKeys } = await import('../../running/keys/up-keys.ts')
  const quit = (): void => void process.kill(process.pid, 'SIGINT')
  return showKeys({ input: process.stdin, output: process.stdout, access: client, quit })
}

/** Runs the cluster of a user without root in namespaces, where it can have a real node. False if it runs here. */
async function movesToNamespaces(real: RealNode | undefined, address: string): Promise<boolean> {
  if (!real || real.containerRuntimeEndpoint || real.docker) return false
  return real.fallback ? clusterRunsInNamespaces(address, print) : runsInNamespaces(print)
}

const print = terminalLog(process.stdout)

/** The options that are values of flags, or constant. */
const optionsOf = (flags: UpFlags, { apiServerFlags, controllerFlags }: ComponentFlags): ClusterOptions => ({
  bindAddress: flags.bindAddress,
  runtimeConfig: flags.runtimeConfig,
  serviceClusterIpRange: flags.serviceClusterIpRange,
  controllers: flags.controllers.split(',').filter(Boolean),
  controllerFlags: {
    ...controllerFlags,
    ...(flags.enableHostpathProvisioner && { 'enable-hostpath-provisioner': 'true' }),
  },
  controllerManagerPort: flags.controllerManagerPort,
  controllersThread: true,
  compaction: { intervalMs: flags.compactionInterval, retainMs: flags.compactionRetention },
  apiServerFlags,
  testControl: flags.testControl,
  warmUp: true,
  verbosity: flags.v,
})

/** `nodes` is undefined for a number of nodes that the store has. */
const needsScheduler = ({ scheduler, schedulerConfig }: UpFlags, nodes: number | undefined): boolean =>
  scheduler ?? (schedulerConfig !== undefined || nodes !== 0)

/** The log format; undefined for plain lines on standard output. */
async function givenLogFormat(apiServerFlags: readonly string[]): Promise<LogFormat | undefined> {
  if (!apiServerFlags.some((flag) => flag.startsWith('--logging-format='))) return undefined
  const [{ parseApiServerFlags: parsedFlags }, { logFormatOf }] = await Promise.all([
    import('../../../cluster/options/cluster-flags.ts'),
    import('../../../apiserver/serving-flags/index.ts'),
  ])
  return logFormatOf(await parsedFlags(apiServerFlags))
}
