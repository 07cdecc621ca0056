/** The flags of `t8s scheduler`, which are those of kube-scheduler that have an effect. */
import { InvalidArgumentError, Option } from 'commander'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { LogFormat } from '../../lib/log/log.ts'
import * as flags from './flags.ts'
import { repeated } from './repeated.ts'

export interface SchedulerFlags {
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

/** All flags, in the order of the help. */
export const schedulerFlags = (): readonly Option[] => [
  ...clusterFlags(),
  ...leaderElectionFlags(),
  ...rateLimitFlags(),
  ...servingFlags(),
  ...processFlags(),
]

const clusterFlags = (): readonly Option[] => [
  new Option(
    '--kubeconfig <FILE>',
    "the cluster and the scheduler's credentials (default: $KUBECONFIG, else .t8s/kubeconfig in this folder, " +
      'else the service account of its pod)',
  ),
  new Option('--master <URL>', "the API server's URL, in place of the kubeconfig's"),
  new Option('--config <FILE>', 'a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1)'),
]

const leaderElectionFlags = (): readonly Option[] => [
  new Option('--leader-elect [BOOL]', 'schedule only while holding the lease (default: true)')
    .preset('true')
    .argParser(boolean),
  new Option(
    '--leader-elect-lease-duration <DURATION>',
    'time until others replace a leader that does not renew (default: 15s)',
  ).argParser(flags.durationMs),
  new Option(
    '--leader-elect-renew-deadline <DURATION>',
    'time after which a leader that cannot renew stops (default: 10s)',
  ).argParser(flags.durationMs),
  new Option('--leader-elect-retry-period <DURATION>', 'interval of renewals of the lease (default: 2s)').argParser(
    flags.positiveDurationMs,
  ),
  new Option('--leader-elect-resource-name <NAME>', 'name of the lease (default: kube-scheduler)'),
  new Option('--leader-elect-resource-namespace <NAME>', 'namespace of the lease (default: kube-system)'),
  new Option('--leader-elect-resource-lock <KIND>', 'only leases are supported').choices(['leases']).hideHelp(),
]

const rateLimitFlags = (): readonly Option[] => [
  new Option('--kube-api-qps <N>', 'requests per second (default: no limit)').argParser(positiveNumber),
  new Option('--kube-api-burst <N>', 'burst of requests (default: 100)').argParser(positiveNumber),
]

const servingFlags = (): readonly Option[] => [
  new Option('--bind-address <IP>', 'the address of /healthz, /readyz and /metrics')
    .default('127.0.0.1')
    .argParser(flags.bindAddress),
  new Option('--secure-port <PORT>', 'the port of /healthz, /readyz and /metrics; 0 for none')
    .default(defaultPort)
    .argParser(flags.port),
  new Option('--authentication-kubeconfig <FILE>', 'credentials for TokenReviews (default: the scheduler)'),
  new Option('--authorization-kubeconfig <FILE>', 'credentials for SubjectAccessReviews (default: the scheduler)'),
  new Option(
    '--authorization-always-allow-paths <PATHS>',
    'paths without authorization, comma-separated (default: /healthz,/readyz,/livez)',
  ).argParser(paths),
  new Option('--tls-cert-file <FILE>', 'serve with this certificate (PEM) instead of a generated one'),
  new Option('--tls-private-key-file <FILE>', 'the key of --tls-cert-file (PEM)'),
  new Option('--profiling [BOOL]', 'serve profiles at /debug/pprof/ (default: true)').preset('true').argParser(boolean),
]

const processFlags = (): readonly Option[] => [
  new Option(
    '--feature-gates <NAME=BOOL>',
    'features of 1.36 to enable or disable, comma-separated; repeatable',
  ).argParser(repeated),
  new Option(
    '--logging-format <FORMAT>',
    'log format of Kubernetes: text (with klog headers) or json (default: plain lines)',
  ).choices(['text', 'json']),
  new Option('-v, --v <LEVEL>', 'log verbosity: 4 shows the stacks of errors').default(0).argParser(flags.verbosity),
]

const paths = (text: string, previous: readonly string[] = []): string[] => [
  ...previous,
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
