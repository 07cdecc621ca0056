/** `t8s up`: runs a cluster in the foreground until a signal stops it. */
import { flushCompileCache } from 'node:module'
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import type { FrontProxyFiles } from '../../cluster/credentials/front-proxy-files.ts'
import type { Kubeconfig } from '../../kubeconfig/kubeconfig.ts'
import { type LogFormat, standardLog } from '../../lib/log/log.ts'
import { tuneAfterStart } from '../../lib/process/tune-after-start.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { Merged } from '../../tools/config/merge.ts'
import {
  addApiServerOptions,
  addControllerOptions,
  givenApiServerFlags,
  givenControllerFlags,
} from '../flags/component-options.ts'
import * as flags from '../flags/flags.ts'
import { frontProxyFlags } from '../flags/front-proxy-flags.ts'
import { type NodeFlags, nodeFlags, simulatedNodes } from '../flags/node-flags.ts'
import { stopSignal } from '../running/stop-signal.ts'

interface UpFlags extends FrontProxyFiles, NodeFlags {
  readonly dataDir: string
  readonly acceptDataLoss?: boolean
  readonly kubeconfig?: string
  readonly mergeKubeconfig?: boolean
  readonly bindAddress: string
  readonly securePort: number
  readonly tokenAuthFile?: string
  readonly clientCaFile?: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly runtimeConfig?: readonly string[]
  readonly serviceClusterIpRange?: string
  readonly controllers: string
  readonly controllerManagerPort?: number
  readonly enableHostpathProvisioner?: boolean
  readonly scheduler?: boolean
  readonly schedulerConfig?: string
  readonly compactionInterval?: number
  readonly compactionRetention?: number
  readonly v: number
}

export function upCommand(): Command {
  const command = new Command('up')
    .description('start a cluster and run it until Ctrl-C')
    .addOption(
      new Option('--data-dir <DIR>', 'the directory for data, certificates and kubeconfig').default(
        flags.defaultDataDirectory,
      ),
    )
    .addOption(
      new Option(
        '--accept-data-loss',
        'start although acknowledged changes are missing at the end of the damaged store; unreadable data is ' +
          'kept in files',
      ),
    )
    .addOption(
      new Option(
        '--kubeconfig <FILE>',
        "where to write the administrator's kubeconfig (default: kubeconfig in the data directory)",
      ),
    )
    .addOption(
      new Option(
        '--merge-kubeconfig',
        'also add the context t8s to $KUBECONFIG or ~/.kube/config, where kubectl would write it; t8s-2 if t8s ' +
          'belongs to another cluster there',
      ),
    )
    .addOption(
      new Option('--bind-address <IP>', 'the address to listen on; 0.0.0.0 for all')
        .default('127.0.0.1')
        .argParser(flags.bindAddress),
    )
    .addOption(
      new Option('--secure-port <PORT>', 'the port to listen on; 0 for any free one')
        .default(6443)
        .argParser(flags.port),
    )
    .addOption(
      new Option('--token-auth-file <FILE>', 'bearer tokens to accept: lines of token,user,uid,"group1,group2"'),
    )
    .addOption(
      new Option(
        '--client-ca-file <FILE>',
        "accept client certificates of these authorities (PEM) in addition to the cluster's own",
      ),
    )
    .addOption(
      new Option(
        '--tls-cert-file <FILE>',
        'serve with this certificate (PEM, with its chain) instead of a generated one',
      ),
    )
    .addOption(new Option('--tls-private-key-file <FILE>', 'the key of --tls-cert-file (PEM)'))
    .addOption(
      new Option(
        '--runtime-config <KEY=BOOL>',
        'enable or disable APIs, such as api/beta=true; repeatable or comma-separated',
      ).argParser(flags.runtimeConfig),
    )
    .addOption(
      new Option(
        '--controllers <NAMES>',
        "controllers to run: '*' for all, 'name', '-name', comma-separated; '' for none",
      ).default('*,bootstrap-signer-controller,token-cleaner-controller', '*'),
    )
    .addOption(
      new Option(
        '--controller-manager-port <PORT>',
        'serve health and metrics of the controllers, as kube-controller-manager does (10257)',
      ).argParser(flags.port),
    )
    .addOption(
      new Option(
        '--enable-hostpath-provisioner',
        'create a default storage class whose volumes are directories in the data directory',
      ),
    )
    .addOption(new Option('--scheduler', 'run the scheduler although the cluster has no nodes of its own'))
    .addOption(new Option('--no-scheduler', 'run no scheduler, for use with your own'))
    .addOption(
      new Option(
        '--scheduler-config <FILE>',
        'a KubeSchedulerConfiguration for the scheduler: profiles, plugins, extenders',
      ),
    )
    .addOption(
      new Option('--service-cluster-ip-range <CIDR>', 'addresses for Services (default: 10.0.0.0/24)').argParser(
        flags.serviceRanges,
      ),
    )
    .addOption(
      new Option(
        '--compaction-interval <DURATION>',
        'interval of compactions, which delete old revisions (default: 5m)',
      ).argParser(flags.positiveDurationMs),
    )
    .addOption(
      new Option(
        '--compaction-retention <DURATION>',
        'minimum age of revisions that are deleted (default: 5m)',
      ).argParser(flags.durationMs),
    )
    .addOption(
      new Option('-v, --v <LEVEL>', 'log verbosity: 0 is quiet, 4 shows the stacks of errors')
        .default(0)
        .argParser(flags.verbosity),
    )
    .addHelpText(
      'after',
      '\nFlags of kube-apiserver also work: --audit-log-path=audit.log, ' +
        '--enable-admission-plugins=AlwaysPullImages, …\n(t8s apiserver --help lists them)\nSo do those of ' +
        'controllers: --concurrent-deployment-syncs=10, --node-monitor-grace-period=20s, … (t8s controller-manager ' +
        '--help)',
    )
    .action((given: UpFlags, command: Command) =>
      up(given, givenApiServerFlags(command), givenControllerFlags(command)),
    )
  for (const flag of [...nodeFlags(), ...frontProxyFlags()]) command.addOption(flag)
  addControllerOptions(command)
  addApiServerOptions(command)
  return command
}

async function up(
  given: UpFlags,
  apiServerFlags: readonly string[],
  controllerFlags: Readonly<Record<string, string>>,
): Promise<void> {
  const stopping = stopSignal()
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`)
  }
  const [
    { startCluster },
    { readIdentity },
    { readFrontProxy },
    { dataDirectoryPaths },
    { writeKubeconfig },
    { Ansis },
  ] = await Promise.all([
    import('../../cluster/start-cluster.ts'),
    import('../../cluster/credentials/identity-files.ts'),
    import('../../cluster/credentials/front-proxy-files.ts'),
    import('../../cluster/data-directory.ts'),
    import('../../kubeconfig/write.ts'),
    import('ansis'),
  ])
  // On CI, ansis uses colours without a terminal.
  const colour = new Ansis(process.stdout.isTTY ? undefined : 0)
  const paths = dataDirectoryPaths(given.dataDir)
  const nodes = await simulatedNodes(given)
  const format = await givenLogFormat(apiServerFlags)
  const log = format ? standardLog(format) : print
  const errorLog = standardLog(format)
  const hasScheduler = given.scheduler ?? (given.schedulerConfig !== undefined || nodes.count !== 0)
  const cluster = await startCluster({
    ...readIdentity(given, print),
    ...readFrontProxy(given),
    storage: { directory: paths.path, acceptDataLoss: given.acceptDataLoss, notice: errorLog },
    bindAddress: given.bindAddress,
    port: given.securePort,
    runtimeConfig: given.runtimeConfig,
    serviceClusterIpRange: given.serviceClusterIpRange,
    controllers: given.controllers.split(',').filter(Boolean),
    controllerFlags: {
      ...controllerFlags,
      ...(given.enableHostpathProvisioner && { 'enable-hostpath-provisioner': 'true' }),
    },
    controllerManagerPort: given.controllerManagerPort,
    nodes,
    controllersThread: true,
    scheduler: hasScheduler && { configurationFile: given.schedulerConfig, onThread: true },
    compaction: { intervalMs: given.compactionInterval, retainMs: given.compactionRetention },
    apiServerFlags,
    warmUp: true,
    verbosity: given.v,
    log,
  })
  try {
    const kubeconfig = given.kubeconfig ? resolve(given.kubeconfig) : paths.kubeconfig
    writeKubeconfig(kubeconfig, cluster.kubeconfigYaml)
    const merged = given.mergeKubeconfig ? await merge(cluster.kubeconfig) : undefined
    print(`data in ${paths.path}`)
    print(`serving on ${cluster.url}`)
    print(`kubeconfig written to ${kubeconfig}`)
    if (merged) print(mergedLine(merged, cluster.kubeconfig))
    print(colour.green(`ready in ${Math.round(performance.now())} ms`))
    print(
      `\n  ${colour.bold(`export KUBECONFIG=${shellWord(kubeconfig)}`)}\n  ` +
        `${colour.bold('kubectl get nodes')}\n` +
        `${merged ? `or  ${colour.bold(`kubectl --context ${merged.context} get nodes`)}\n` : ''}\n` +
        'Ctrl-C stops it',
    )
    surviveErrors(errorLog)
    flushCompileCache()
    void cluster.synced.then(tuneAfterStart)
    print(`stopping after ${await stopping.requested}: active requests may finish; a second signal stops immediately`)
  } finally {
    await cluster.stop()
  }
  print('stopped')
}

/** The log format; undefined for plain lines on standard output. */
async function givenLogFormat(apiServerFlags: readonly string[]): Promise<LogFormat | undefined> {
  if (!apiServerFlags.some((flag) => flag.startsWith('--logging-format='))) return undefined
  const [{ parseApiServerFlags: parsedFlags }, { logFormatOf }] = await Promise.all([
    import('../../cluster/cluster-flags.ts'),
    import('../../apiserver/serving-flags/index.ts'),
  ])
  return logFormatOf(await parsedFlags(apiServerFlags))
}

/** Merges into the kubeconfig that kubectl writes to. */
async function merge(kubeconfig: Kubeconfig): Promise<Merged> {
  const [{ mergeKubeconfig }, { kubeconfigLocations }] = await Promise.all([
    import('../../tools/config/merge.ts'),
    import('../../tools/config/files/locations.ts'),
  ])
  return mergeKubeconfig(kubeconfigLocations(process.env), kubeconfig, 'up --merge-kubeconfig')
}

function mergedLine({ file, context, result }: Merged, kubeconfig: Kubeconfig): string {
  const defaultContext = kubeconfig['current-context']
  if (context === defaultContext)
    return result === 'added' ? `context ${context} added to ${file}` : `context ${context} ${result} in ${file}`
  return (
    `context ${context} ${result} in ${file}: ${defaultContext} belongs to another cluster there; to reuse that ` +
    `name, run t8s config remove ${defaultContext} and restart`
  )
}

/** Quotes a path for a shell. */
const shellWord = (text: string): string => (/^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
