/** The certificate of the kubelet's HTTPS server: from files, signed by the cluster, or signed by the kubelet. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { connectTo } from '../../client/connection/connect-to.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import type { KubeletConfiguration } from '../../kubelet/configuration/index.ts'
import { servingCertificateMetrics } from '../../kubelet/credentials/certificate-metrics.ts'
import { certificateOf, type KeyPair } from '../../kubelet/credentials/key-pair.ts'
import type { ManagedCertificate } from '../../kubelet/credentials/managed-certificate.ts'
import {
  clusterServingCertificate,
  selfSignedServingCertificate,
} from '../../kubelet/credentials/serving-certificate.ts'
import type { ServingCredentials } from '../../kubelet/options.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { fileValue } from '../../lib/files/file-value.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

export interface ServingCredentialsOptions {
  readonly configuration: Pick<KubeletConfiguration, 'tlsCertFile' | 'tlsPrivateKeyFile' | 'serverTLSBootstrap'>
  readonly pkiFolder: string
  readonly nodeName: string
  /** Names and addresses of the node, for certificates of the cluster. */
  readonly nodeHosts: readonly string[]
  /** Names and addresses of this machine, for certificates of its own. */
  readonly machineHosts: readonly string[]
  readonly access: ServerAccess
  readonly metrics: MetricsRegistry
  readonly schedule: (callback: () => void, ms: number) => () => void
  readonly log: (line: string) => void
}

/** The interval of checks whether files have changed, in ms. */
const checkMs = 10_000

/** Rejects with an ExplainedError if files are missing or do not belong together. */
export async function servingCredentials(
  options: ServingCredentialsOptions,
  lifetime: Lifetime,
): Promise<ServingCredentials> {
  const { tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap } = options.configuration
  if (!tlsCertFile !== !tlsPrivateKeyFile)
    throw new ExplainedError('a serving certificate needs both tlsCertFile and tlsPrivateKeyFile')
  if (tlsCertFile && tlsPrivateKeyFile)
    return pairOfFiles(options, resolve(tlsCertFile), resolve(tlsPrivateKeyFile), lifetime)
  return serverTLSBootstrap ? signedByCluster(options, lifetime) : signedByKubelet(options, lifetime)
}

function pairOfFiles(
  { metrics, schedule, log }: ServingCredentialsOptions,
  certFile: string,
  keyFile: string,
  lifetime: Lifetime,
): ServingCredentials {
  const counts = servingCertificateMetrics(metrics, Date.now)
  const read = (): KeyPair => {
    const pair = { cert: fileText(certFile), key: fileText(keyFile) }
    try {
      certificateOf(pair)
    } catch (error) {
      throw new ExplainedError(`${certFile} is no certificate for the key ${keyFile}: ${reasonOf(error)}`)
    }
    return pair
  }
  const current = fileValue({ paths: [certFile, keyFile], read, log })
  const pairs = new LatestPair(counts.changed)
  pairs.set(current())
  let cancel = (): void => {}
  const check = (): void => {
    const pair = current()
    if (pair !== pairs.current) pairs.set(pair)
    cancel = schedule(check, checkMs)
  }
  cancel = schedule(check, checkMs)
  lifetime.onEnd(() => cancel())
  return pairs
}

/** Until a request is approved, which operators do, there is no certificate. */
async function signedByCluster(options: ServingCredentialsOptions, lifetime: Lifetime): Promise<ServingCredentials> {
  const client = await connectTo({ access: options.access })
  lifetime.onEnd(() => client.close())
  return started(options, lifetime, (environment) =>
    clusterServingCertificate({ ...environment, hosts: () => options.nodeHosts, client }),
  )
}

async function signedByKubelet(options: ServingCredentialsOptions, lifetime: Lifetime): Promise<ServingCredentials> {
  const first = Promise.withResolvers<void>()
  const pairs = started(options, lifetime, ({ failed, ...environment }) =>
    selfSignedServingCertificate({
      ...environment,
      hosts: () => options.machineHosts,
      failed() {
        failed?.()
        first.reject(new ExplainedError(`cannot write a serving certificate to ${options.pkiFolder}`))
      },
    }),
  )
  pairs.onChange(() => first.resolve())
  if (!pairs.current) await first.promise
  return pairs
}

type Environment = Omit<Parameters<typeof selfSignedServingCertificate>[0], 'hosts'>

function started(
  { metrics, pkiFolder, nodeName, schedule, log }: ServingCredentialsOptions,
  lifetime: Lifetime,
  create: (environment: Environment) => ManagedCertificate,
): ServingCredentials {
  const { changed, failed } = servingCertificateMetrics(metrics, Date.now)
  const pairs = new LatestPair(changed)
  const managed = create({
    pkiFolder,
    nodeName,
    schedule,
    log,
    failed,
    changed: (pair) => pairs.set(pair),
    now: Date.now,
    random: Math.random,
  })
  lifetime.onEnd(() => managed.stop())
  managed.start()
  return pairs
}

/** The newest pair, for those who use it. */
class LatestPair implements ServingCredentials {
  readonly #listeners: ((pair: KeyPair) => void)[]
  current: KeyPair | undefined

  constructor(first: (pair: KeyPair) => void) {
    this.#listeners = [first]
  }

  onChange(callback: (pair: KeyPair) => void): void {
    this.#listeners.push(callback)
  }

  set(pair: KeyPair): void {
    this.current = pair
    for (const listener of this.#listeners) listener(pair)
  }
}

/** Throws an ExplainedError that names a file that cannot be read. */
export function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
