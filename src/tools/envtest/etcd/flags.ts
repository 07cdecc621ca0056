/** The command line of the `etcd` launcher: etcd's flags in the syntax of Go's flag package; most have no effect. */
import { resolve } from 'node:path'
import { FlagError } from '../../../apiserver/serving-flags/index.ts'

export interface EtcdFlags {
  /** Absolute path of the data. */
  readonly dataDir: string
  /** True to hold data in memory and write it only at the end. */
  readonly unsafeNoFsync: boolean
  readonly listenClientUrls: readonly URL[]
  /** Given flags without effect. */
  readonly idle: readonly string[]
}

const defaultClientUrl = 'http://localhost:2379'

/** Flags with an effect, and their help texts. */
const effective: readonly (readonly [name: string, value: string, help: string])[] = [
  ['data-dir', "'default.etcd'", 'the directory for data when this program ends'],
  ['listen-client-urls', `'${defaultClientUrl}'`, 'the URLs that serve /health'],
  ['unsafe-no-fsync', "'false'", 'hold data in memory, and write it to the data directory only at the end'],
]

/** Flags of etcd 3.6 that are accepted without effect. */
const idleFlags =
  `advertise-client-urls auth-token auth-token-ttl auto-compaction-mode auto-compaction-retention auto-tls
backend-batch-interval backend-batch-limit backend-bbolt-freelist-type bcrypt-cost
bootstrap-defrag-threshold-megabytes cert-file cipher-suites client-cert-allowed-hostname client-cert-auth
client-cert-file client-crl-file client-key-file compact-hash-check-enabled compact-hash-check-time
compaction-batch-limit compaction-sleep-interval config-file corrupt-check-time cors discovery discovery-endpoints
discovery-token distributed-tracing-address distributed-tracing-instance-id distributed-tracing-sampling-rate
distributed-tracing-service-name downgrade-check-time election-timeout enable-distributed-tracing enable-grpc-gateway
enable-log-rotation enable-pprof experimental-compact-hash-check-enabled experimental-corrupt-check-time
experimental-enable-lease-checkpoint experimental-initial-corrupt-check experimental-peer-skip-client-san-verification
experimental-watch-progress-notify-interval feature-gates force-new-cluster grpc-keepalive-interval
grpc-keepalive-min-time grpc-keepalive-timeout heartbeat-interval host-whitelist initial-advertise-peer-urls
initial-cluster initial-cluster-state initial-cluster-token initial-election-tick-advance key-file
listen-client-http-urls listen-metrics-urls listen-peer-urls log-format log-level log-outputs log-rotation-config-json
logger max-concurrent-streams max-learners max-request-bytes max-snapshots max-txn-ops max-wals memory-mlock metrics
name peer-auto-tls peer-cert-allowed-cn peer-cert-allowed-hostname peer-cert-file peer-client-cert-auth
peer-client-cert-file peer-client-key-file peer-crl-file peer-key-file peer-skip-client-san-verification
peer-tls-max-version peer-tls-min-version peer-trusted-ca-file pre-vote progress-notify-interval quota-backend-bytes
self-signed-cert-validity snapshot-catchup-entries snapshot-count socket-reuse-address socket-reuse-port
strict-reconfig-check tls-max-version tls-min-version trusted-ca-file v2-deprecation wal-dir warning-apply-duration
warning-unary-request-duration watch-progress-notify-interval`.split(/\s+/)

/** Flags that need no value. */
const booleans = new Set(
  `auto-tls client-cert-auth compact-hash-check-enabled enable-distributed-tracing enable-grpc-gateway
enable-log-rotation enable-pprof experimental-compact-hash-check-enabled experimental-enable-lease-checkpoint
experimental-initial-corrupt-check experimental-peer-skip-client-san-verification force-new-cluster
initial-election-tick-advance memory-mlock peer-auto-tls peer-client-cert-auth peer-skip-client-san-verification
pre-vote socket-reuse-address socket-reuse-port strict-reconfig-check unsafe-no-fsync`.split(/\s+/),
)

/** Parses the command line. Throws a FlagError with etcd's message. */
export function etcdFlags(args: readonly string[], cwd: string): EtcdFlags {
  const given = new Map<string, string>()
  for (let i = 0; i < args.length; i++) {
    const [, name = '', text] = /^--?([^-=][^=]*)(?:=([\s\S]*))?$/.exec(args[i]!) ?? []
    if (name === '') throw new FlagError(`${JSON.stringify(args[i])} is not a valid flag`)
    if (!idleFlags.includes(name) && !effective.some(([known]) => known === name))
      throw new FlagError(`flag provided but not defined: -${name}`)
    const value = text ?? (booleans.has(name) ? 'true' : args[++i])
    if (value === undefined) throw new FlagError(`flag needs an argument: -${name}`)
    if (booleans.has(name) && !/^(1|0|t|f|T|F|true|false|TRUE|FALSE|True|False)$/.test(value)) {
      throw new FlagError(`invalid boolean value ${JSON.stringify(value)} for -${name}: parse error`)
    }
    given.set(name, value)
  }
  return {
    dataDir: resolve(cwd, given.get('data-dir') || `${given.get('name') ?? 'default'}.etcd`),
    unsafeNoFsync: /^(1|t)/i.test(given.get('unsafe-no-fsync') ?? ''),
    listenClientUrls: (given.get('listen-client-urls') || defaultClientUrl).split(',').map(clientUrl),
    idle: [...given.keys()].filter((name) => idleFlags.includes(name) && name !== 'name'),
  }
}

function clientUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:')
    throw new FlagError(
      `--listen-client-urls ${text}: this program only supports plain HTTP: use a URL such as ${defaultClientUrl}`,
    )
  return url
}

const effectiveText = effective
  .map(([name, value, help]) => `  --${name} ${value}\n        ${help.charAt(0).toUpperCase()}${help.slice(1)}.`)
  .join('\n')

/** The text of `--help`, including the last line break. */
export const etcdHelp = `A replacement for etcd that Typernetes' kube-apiserver uses in test suites.
It only serves GET /health and is not an etcd. The data is in a store of
Typernetes, which the kube-apiserver uses directly.

Usage:
  etcd [flags]

Flags with an effect:

${effectiveText}

Flags of etcd that are accepted without effect:

${idleFlags.map((name) => `  --${name}`).join('\n')}
`
