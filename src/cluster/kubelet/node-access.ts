/** The kubelet's access to the API server: by its kubeconfig, whose client certificate may be renewed. */
import { connectTo } from '../../client/connection/connect-to.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import { type LoadedAccess, loadAccess } from '../../client/connection/load-access.ts'
import { clientCertificateMetrics } from '../../kubelet/credentials/certificate-metrics.ts'
import {
  bootstrapClientCertificate,
  certificateCredentials,
  clientCertificate,
} from '../../kubelet/credentials/client-certificate.ts'
import { certificateOf, type KeyPair } from '../../kubelet/credentials/key-pair.ts'
import type { ManagedCertificate } from '../../kubelet/credentials/managed-certificate.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

export interface NodeAccessOptions {
  /** Absolute paths. */
  readonly kubeconfig?: string
  readonly bootstrapKubeconfig?: string
  readonly pkiFolder: string
  readonly nodeName: string
  /** Renews the client certificate (`rotateCertificates`). */
  readonly rotates: boolean
  readonly metrics: MetricsRegistry
  readonly schedule: (callback: () => void, ms: number) => () => void
  readonly log: (line: string) => void
  /** Cancels the wait for the first certificate. */
  readonly signal: AbortSignal
}

/** Rejects with an ExplainedError if files are missing or unusable, and if the first certificate is denied. */
export async function nodeAccess(options: NodeAccessOptions, lifetime: Lifetime): Promise<LoadedAccess> {
  const { kubeconfig, bootstrapKubeconfig, metrics, rotates } = options
  if (bootstrapKubeconfig) await bootstrap(options, bootstrapKubeconfig)
  const access = await loadAccess(kubeconfig ? { kubeconfig } : {})
  const counts = clientCertificateMetrics(metrics, Date.now)
  const { cert, key } = access
  if (!cert || !key) return access
  if (rotates) return renewedAccess(options, access, { cert, key }, counts, lifetime)
  counts.changed({ cert, key })
  return access
}

async function bootstrap(options: NodeAccessOptions, bootstrapKubeconfig: string): Promise<void> {
  const { kubeconfig, pkiFolder, nodeName, log, signal } = options
  if (!kubeconfig)
    throw new ExplainedError('--bootstrap-kubeconfig needs --kubeconfig: the file that the bootstrap writes')
  await bootstrapClientCertificate({
    bootstrapKubeconfig,
    kubeconfig,
    pkiFolder,
    nodeName,
    log,
    now: Date.now,
    signal,
  })
}

/** The certificate of the kubeconfig is used until a newer one is in the kubelet's folder. */
function renewedAccess(
  { bootstrapKubeconfig, pkiFolder, nodeName, schedule, log }: NodeAccessOptions,
  { cert: _cert, key: _key, ...access }: LoadedAccess,
  initial: KeyPair,
  counts: ReturnType<typeof clientCertificateMetrics>,
  lifetime: Lifetime,
): LoadedAccess {
  const connect = async () => {
    const isOver = certificateOf(managed.current ?? initial).validToDate.getTime() <= Date.now()
    // An expired certificate cannot renew itself; a bootstrap token can.
    const own: ServerAccess = { ...access, credentials: certificateCredentials(managed) }
    return connectTo({
      access: isOver && bootstrapKubeconfig ? await loadAccess({ kubeconfig: bootstrapKubeconfig }) : own,
    })
  }
  const managed: ManagedCertificate = clientCertificate({
    ...counts,
    initial,
    pkiFolder,
    nodeName,
    connect,
    log,
    now: Date.now,
    random: Math.random,
    schedule,
  })
  lifetime.onEnd(() => managed.stop())
  managed.start()
  return { ...access, credentials: certificateCredentials(managed) }
}
