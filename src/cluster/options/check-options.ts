/** Validates the options of a cluster. Programs in JavaScript have no compiler that does. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { RequestHeaderOptions } from '../../apiserver/authentication/request-header.ts'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import type { UserInfo } from '../../apiserver/request-info/user-info.ts'
import { parseCidr } from '../../lib/cidr.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { EtcdTls } from '../../storage/etcd/client/endpoint.ts'
import type { EtcdOptions } from '../../storage/etcd/index.ts'
import type {
  ClusterNodes,
  ClusterOptions,
  ClusterSchedulerChoice,
  StorageDirectory,
  StorageEtcd,
} from '../cluster-options.ts'
import type { ClusterIngress } from '../ingress/index.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import type { RealNode } from '../real-node/index.ts'
import {
  boolean,
  type Check,
  callback,
  fields,
  isObject,
  listOf,
  mapOf,
  oneOf,
  optional,
  satisfying,
  text,
  wholeNumber,
  wrong,
} from './check.ts'

const maxPort = 65_535
const port = wholeNumber(0, maxPort)
const texts = listOf(text())
/** Checked in detail by its owner. */
const any: Check = () => {}

/** Flags of kube-apiserver that are options of a cluster, which would have no effect. */
const optionsOfFlags: Readonly<Record<string, string>> = {
  'secure-port': 'port',
  'bind-address': 'bindAddress',
  'service-cluster-ip-range': 'serviceClusterIpRange',
  'tls-cert-file': 'tls',
  'tls-private-key-file': 'tls',
  'data-dir': 'storage.directory',
}

/** Throws an ExplainedError that names the first wrong option and the remedy. */
export function checkOptions(options: unknown): asserts options is ClusterOptions {
  fields<ClusterOptions>({
    storage: optional(storage),
    bindAddress: optional(text('an address of this machine')),
    port: optional(port),
    tokens: optional(listOf(fields<TokenUser>({ token: text(), user: userInfo }, 'an object with token and user'))),
    tls: optional(keyPair),
    clientCA: optional(bundle),
    requestHeader: optional(requestHeader),
    proxyClient: optional(keyPair),
    runtimeConfig: optional(texts),
    serviceClusterIpRange: optional(addressRanges),
    apiServerFlags: optional(listOf(apiServerFlag)),
    controllers: optional(booleanOr('an array of names', texts)),
    controllerFlags: optional(mapOf(satisfying('a text', (value) => typeof value === 'string'))),
    nodes: optional(nodes),
    controllersThread: optional(boolean),
    scheduler: optional(booleanOr('an object', fields<ClusterSchedulerChoice>(schedulerFields))),
    ingress: optional(booleanOr('an object', fields<ClusterIngress>(ingressFields))),
    controllerManagerPort: optional(port),
    warmUp: optional(boolean),
    testControl: optional(boolean),
    thread: optional(boolean),
    compaction: optional(fields<NonNullable<ClusterOptions['compaction']>>(compactionFields)),
    log: optional(callback),
    verbosity: optional(wholeNumber(0)),
  })(options, '')
}

/** True, false, or a value that passes `check`. */
const booleanOr =
  (expected: string, check: Check): Check =>
  (value, path) => {
    if (typeof value === 'boolean') return
    if (typeof value !== 'object') throw wrong(path, `true, false or ${expected}`, value)
    check(value, path)
  }

function storage(value: unknown, path: string): void {
  if (value === 'memory') return
  const expected = '"memory", { directory } or { etcd }'
  if (!isObject(value)) throw wrong(path, expected, value)
  if ('etcd' in value)
    fields<StorageEtcd>({
      etcd: fields<EtcdOptions>(etcdFields),
      directory: optional(text('a path')),
    })(value, path)
  else if (Object.keys(value).length === 0) throw wrong(path, expected, value)
  else fields<StorageDirectory>(directoryFields)(value, path)
}

const directoryFields = { directory: text('a path'), acceptDataLoss: optional(boolean), notice: optional(callback) }

const certificate = satisfying('a Buffer or undefined', (value) => value === undefined || Buffer.isBuffer(value))

const etcdFields = {
  servers: satisfying(
    'an array with a URL at least, such as ["https://10.0.0.1:2379"]',
    (value) => Array.isArray(value) && value.length > 0 && value.every((url) => typeof url === 'string'),
  ),
  tls: optional(fields<EtcdTls>({ ca: certificate, cert: certificate, key: certificate })),
  pollMs: optional(wholeNumber(0)),
  leaseReuseSeconds: optional(wholeNumber(0)),
  compactionMs: optional(wholeNumber(0)),
  prefix: optional(text()),
  timeoutMs: optional(wholeNumber(1)),
}

const userInfo: Check = fields<UserInfo>(
  { name: text(), uid: optional(text()), groups: texts, extra: optional(mapOf(texts)) },
  'an object with name and groups, such as { name: "jane", groups: [] }',
)

function keyPair(value: unknown, path: string): void {
  fields<KeyPair>({ cert: pem, key: pem }, 'an object with cert and key, both PEM')(value, path)
  const { cert, key } = value as KeyPair
  let isPair: boolean
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch (error) {
    throw new ExplainedError(`the option ${path} is no certificate with its key in PEM: ${reasonOf(error)}`, {
      cause: error,
    })
  }
  if (!isPair) throw new ExplainedError(`the key of the option ${path} is not that of its certificate`)
}

const pem = satisfying('the text of a PEM file', (value) => typeof value === 'string' && value.includes('-----BEGIN '))

function bundle(value: unknown, path: string): void {
  const expected = 'the text of a PEM file with certificates'
  if (typeof value !== 'string' || !value.includes('-----BEGIN CERTIFICATE-----')) throw wrong(path, expected, value)
  try {
    new X509Certificate(value)
  } catch (error) {
    throw new ExplainedError(`the option ${path} must be ${expected}: ${reasonOf(error)}`, { cause: error })
  }
}

const requestHeader: Check = fields<RequestHeaderOptions>({
  clientCA: (value, path) => typeof value === 'function' || bundle(value, path),
  allowedNames: texts,
  usernameHeaders: texts,
  uidHeaders: texts,
  groupHeaders: texts,
  extraHeadersPrefix: texts,
})

function addressRanges(value: unknown, path: string): void {
  const ranges = typeof value === 'string' ? value.split(',') : []
  if (ranges.length === 0 || ranges.length > 2 || !ranges.every((range) => parseCidr(range.trim())))
    throw wrong(path, 'one or two ranges of addresses, such as "10.0.0.0/24"', value)
}

function apiServerFlag(value: unknown, path: string): void {
  text('a flag with its value, such as "--audit-log-path=audit.log"')(value, path)
  const [, name = ''] = /^--([\w-]+)/.exec(String(value)) ?? []
  const option = Object.hasOwn(optionsOfFlags, name) ? optionsOfFlags[name] : undefined
  if (option !== undefined) throw new ExplainedError(`--${name} is an option of a cluster: set ${option} instead`)
}

function nodes(value: unknown, path: string): void {
  if (isObject(value)) fields<ClusterNodes>(nodesFields)(value, path)
  else if (!Number.isSafeInteger(value) || Number(value) < 0)
    throw wrong(path, 'a whole number from 0 on, or an object', value)
}

const realNodeFields = {
  name: optional(text()),
  ips: optional(texts),
  containerRuntimeEndpoint: optional(text('a path or a unix:// URL')),
  docker: optional(satisfying('true or an address', (value) => value === true || typeof value === 'string')),
  imageSources: optional(texts),
  proxyMode: optional(text()),
  networkBackend: optional(text()),
  networkPolicyMode: optional(text()),
  ports: optional(listOf(any)),
  registries: optional(any),
  configurationFile: optional(text('a path')),
  configurationFolder: optional(text('a path')),
  fallback: optional(oneOf('simulated')),
}

const nodesFields = {
  count: optional(wholeNumber(0)),
  atLeast: optional(wholeNumber(0)),
  groups: optional(listOf(any)),
  stages: optional(text('the text of a file of stages')),
  real: optional(booleanOr('an object', fields<RealNode>(realNodeFields))),
  machines: optional(wholeNumber(1)),
}

const pluginFactory = satisfying(
  'a plugin with name and make',
  (value) => isObject(value) && typeof value.name === 'string' && typeof value.make === 'function',
)

const schedulerFields = {
  configurationFile: optional(text('a path')),
  plugins: optional(listOf(pluginFactory)),
  onThread: optional(boolean),
}

const ingressFields = {
  address: optional(text('an address of this machine')),
  httpPort: optional(port),
  httpsPort: optional(port),
  accessLog: optional(boolean),
  metricsPort: optional(port),
}

const compactionFields = {
  intervalMs: optional(wholeNumber(1)),
  retainMs: optional(wholeNumber(0)),
  maxHistoryBytes: optional(wholeNumber(1)),
}
