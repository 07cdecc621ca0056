/** `t8s scheduler`: only the scheduler, for any API server. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { ExplainedError } from '../../lib/explained-error.ts'
import { type LogFormat, standardLog } from '../../lib/log/log.ts'
import { tuneAfterStart } from '../../lib/process/tune-after-start.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import * as flags from '../flags/flags.ts'
import { stopSignal } from '../running/stop-signal.ts'

interface SchedulerFlags {
  readonly kubeconfig?: string
  readonly master?: string
  readonly config?: string
  readonly leaderElect?: boolean
  readonly leaderElectLeaseDuration?: number
  readonly leaderElectRenewDeadline?: number
  readonly leaderElectRetryPeriod?: number
  readonly leaderElectResourceName?: string
  readonly leaderElectResourceNamespace?: string
  readonly kubeApiQps?: number
  readonly kubeApiBurst?: number
  readonly bindAddress: string
  readonly securePort: number
  readonly authenticationKubeconfig?: string
  readonly authorizationKubeconfig?: string
  readonly authorizationAlwaysAllowPaths?: readonly string[]
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly profiling?: boolean
  readonly loggingFormat?: LogFormat
  readonly featureGates?: readonly string[]
}

const defaultPort = 10259

const examples = `
Examples:
  t8s scheduler --kubeconfig .t8s/kubeconfig                         for a t8s up --no-scheduler
  t8s scheduler --kubeconfig kubeconfig --config profiles.yaml       profiles, plugins and extenders from a file
  t8s scheduler --kubeconfig kubeconfig --leader-elect=false --secure-port 0
  curl -k https://127.0.0.1:10259/readyz                             is it ready to schedule?`

export function schedulerCommand(): Command {
  return new Command('scheduler')
    .description('run only the scheduler, for any API server; of several processes, one leads')
    .addOption(
      new Option(
        '--kubeconfig <FILE>',
        "the cluster and the scheduler's credentials (default: $KUBECONFIG, else .t8s/kubeconfig in this folder, " +
          'else the service account of its pod)',
      ),
    )
    .addOption(new Option('--master <URL>', "the API server's URL, in place of the kubeconfig's"))
    .addOption(new Option('--config <FILE>', 'a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1)'))
    .addOption(
      new Option('--leader-elect [BOOL]', 'schedule only while holding the lease (default: true)')
        .preset('true')
        .argParser(boolean),
    )
    .addOption(
      new Option(
        '--leader-elect-lease-duration <DURATION>',
        'time until others replace a leader that does not renew (default: 15s)',
      ).argParser(flags.durationMs),
    )
    .addOption(
      new Option(
        '--leader-elect-renew-deadline <DURATION>',
        'time after which a leader that cannot renew stops (default: 10s)',
      ).argParser(flags.durationMs),
    )
    .addOption(
      new Option('--leader-elect-retry-period <DURATION>', 'interval of renewals of the lease (default: 2s)').argParser(
        flags.positiveDurationMs,
      ),
    )
    .addOption(new Option('--leader-elect-resource-name <NAME>', 'name of the lease (default: kube-scheduler)'))
    .addOption(new Option('--leader-elect-resource-namespace <NAME>', 'namespace of the lease (default: kube-system)'))
    .addOption(
      new Option('--leader-elect-resource-lock <KIND>', 'only leases are supported').choices(['leases']).hideHelp(),
    )
    .addOption(new Option('--kube-api-qps <N>', 'requests per second (default: no limit)').argParser(positiveNumber))
    .addOption(new Option('--kube-api-burst <N>', 'burst of requests (default: 100)').argParser(positiveNumber))
    .addOption(
      new Option('--bind-address <IP>', 'the address of /healthz, /readyz and /metrics')
        .default('127.0.0.1')
        .argParser(flags.bindAddress),
    )
    .addOption(
      new Option('--secure-port <PORT>', 'the port of /healthz, /readyz and /metrics; 0 for none')
        .default(defaultPort)
        .argParser(flags.port),
    )
    .addOption(
      new Option('--authentication-kubeconfig <FILE>', 'credentials for TokenReviews (default: the scheduler)'),
    )
    .addOption(
      new Option('--authorization-kubeconfig <FILE>', 'credentials for SubjectAccessReviews (default: the scheduler)'),
    )
    .addOption(
      new Option(
        '--authorization-always-allow-paths <PATHS>',
        'paths without authorization, comma-separated (default: /healthz,/readyz,/livez)',
      ).argParser(paths),
    )
    .addOption(new Option('--tls-cert-file <FILE>', 'serve with this certificate (PEM) instead of a generated one'))
    .addOption(new Option('--tls-private-key-file <FILE>', 'the key of --tls-cert-file (PEM)'))
    .addOption(
      new Option('--profiling [BOOL]', 'serve profiles at /debug/pprof/ (default: true)')
        .preset('true')
        .argParser(boolean),
    )
    .addOption(
      new Option(
        '--feature-gates <NAME=BOOL>',
        'features of 1.36 to enable or disable, comma-separated; repeatable',
      ).argParser((text, before: readonly string[] = []) => [...before, text]),
    )
    .addOption(
      new Option(
        '--logging-format <FORMAT>',
        'log format of Kubernetes: text (with klog headers) or json (default: plain lines)',
      ).choices(['text', 'json']),
    )
    .addOption(
      new Option('-v, --v <LEVEL>', 'log verbosity: 4 shows the stacks of errors')
        .default(0)
        .argParser(flags.verbosity),
    )
    .addHelpText('after', examples)
    .action((given: SchedulerFlags) => schedule(given))
}

async function schedule(given: SchedulerFlags): Promise<void> {
  const stopping = stopSignal()
  const log = standardLog(given.loggingFormat)
  const { startStandaloneScheduler: startLoneScheduler } = await import(
    '../../cluster/scheduler/standalone-scheduler.ts'
  )
  const scheduler = await startLoneScheduler({
    ...given,
    leaderElection: {
      leaderElect: given.leaderElect,
      leaseMs: given.leaderElectLeaseDuration,
      renewMs: given.leaderElectRenewDeadline,
      retryMs: given.leaderElectRetryPeriod,
      name: given.leaderElectResourceName,
      namespace: given.leaderElectResourceNamespace,
    },
    rateLimit: given.kubeApiQps ? { qps: given.kubeApiQps, burst: given.kubeApiBurst ?? 100 } : undefined,
    port: given.securePort === 0 ? undefined : given.securePort,
    log,
  })
  try {
    if (scheduler.port !== undefined) log(`health and metrics on https://${given.bindAddress}:${scheduler.port}`)
    surviveErrors(log)
    tuneAfterStart()
    const end = await Promise.race([scheduler.ended, stopping.requested])
    if (end === 'lost')
      throw new ExplainedError(
        'the lease was lost: another scheduler may lead now, so this one exits; restart it to wait for the lease',
      )
  } finally {
    await scheduler.stop()
  }
}

const paths = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text.split(',').filter(Boolean),
]

function boolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.')
  return text === 'true'
}

function positiveNumber(text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new ExplainedError(`${JSON.stringify(text)} must be a number greater than 0`)
  return number
}
