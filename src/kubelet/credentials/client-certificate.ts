/**
 * The kubelet's client certificate: the first one by a bootstrap token (kubelet TLS bootstrapping), later ones by the
 * certificate itself. Keys never leave the node, and are readable by the kubelet's user only.
 */
import { createHash, createPublicKey } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, connectTo } from '../../client/connection/connect-to.ts'
import type { ServerAccess } from '../../client/connection/connection.ts'
import type { Credentials } from '../../client/connection/credentials/credentials.ts'
import { loadAccess } from '../../client/connection/load-access.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { messageOf } from '../../lib/message-of.ts'
import { toYaml } from '../../machinery/yaml.ts'
import { CertificateStore } from './certificate-store.ts'
import { certificateOf, createKey, type KeyPair, signingRequest } from './key-pair.ts'
import { ManagedCertificate, type ManagedCertificateOptions } from './managed-certificate.ts'
import { requestCertificate } from './request-certificate.ts'

export interface BootstrapOptions {
  /** The kubeconfig with the bootstrap token (`--bootstrap-kubeconfig`). */
  readonly bootstrapKubeconfig: string
  /** The kubelet's own kubeconfig (`--kubeconfig`), which is written if it does not exist or has expired. */
  readonly kubeconfig: string
  /** The folder of certificates, `/var/lib/kubelet/pki`. */
  readonly pkiFolder: string
  readonly nodeName: string
  readonly log: (line: string) => void
  readonly now: () => number
  readonly signal: AbortSignal
}

const signerName = 'kubernetes.io/kube-apiserver-client-kubelet'

const subjectOf = (nodeName: string) => ({
  commonName: `system:node:${nodeName}`,
  organizations: ['system:nodes'],
  hosts: [],
})

/** Makes sure that there is a kubeconfig with a valid client certificate. Rejects if the request is denied. */
export async function bootstrapClientCertificate(options: BootstrapOptions): Promise<void> {
  const { kubeconfig, bootstrapKubeconfig, pkiFolder, nodeName, log, now, signal } = options
  if (await isUsable(kubeconfig, now(), log)) return
  log('Kubeconfig is invalid or missing: using the bootstrap kubeconfig to generate client cert, key')
  const access = await loadAccess({ kubeconfig: bootstrapKubeconfig })
  const client = await connectTo({ access })
  const temporaryKey = join(pkiFolder, 'kubelet-client.key.tmp')
  try {
    const key = await storedKey(temporaryKey)
    const request = signingRequest(key, subjectOf(nodeName))
    const name = requestName(key, nodeName)
    const cert = await requestCertificate(client, { request, signerName, name }, signal)
    const store = new CertificateStore(pkiFolder, 'kubelet-client')
    store.save({ cert, key }, new Date(now()))
    writeKubeconfig(kubeconfig, access, store.currentPath)
    rmSync(temporaryKey, { force: true })
  } finally {
    client.close()
  }
}

async function isUsable(kubeconfig: string, now: number, log: (line: string) => void): Promise<boolean> {
  if (!existsSync(kubeconfig)) return false
  try {
    const { cert, key } = await loadAccess({ kubeconfig })
    // Tokens and other credentials are the operator's business.
    return !cert || !key || certificateOf({ cert, key }).validToDate.getTime() > now
  } catch (error) {
    log(`the kubeconfig ${kubeconfig} cannot be used: ${messageOf(error)}`)
    return false
  }
}

/** The key of a request that an earlier start has made, or a new one. */
async function storedKey(file: string): Promise<string> {
  try {
    const key = readFileSync(file, 'utf8')
    createPublicKey(key)
    return key
  } catch {
    const key = await createKey()
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o755 })
    writeFileAtomically(file, key, 0o600)
    return key
  }
}

/** The same for the same key and node, so that a restart finds the request. */
function requestName(key: string, nodeName: string): string {
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const hash = createHash('sha512').update(publicKey).update(`system:node:${nodeName}`).digest()
  return `node-csr-${hash.subarray(0, 32).toString('hex')}`
}

function writeKubeconfig(file: string, { url, ca, insecure, serverName, proxyUrl }: ServerAccess, pem: string): void {
  const cluster = {
    server: url,
    ...(ca && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(insecure && { 'insecure-skip-tls-verify': true }),
    ...(serverName && { 'tls-server-name': serverName }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default-cluster', cluster }],
    contexts: [
      { name: 'default-context', context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' } },
    ],
    'current-context': 'default-context',
    users: [{ name: 'default-auth', user: { 'client-certificate': pem, 'client-key': pem } }],
  }
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o755 })
  writeFileAtomically(file, toYaml(config), 0o600)
}

export interface ClientCertificateOptions
  extends Pick<ManagedCertificateOptions, 'log' | 'now' | 'random' | 'schedule' | 'changed' | 'failed' | 'initial'> {
  readonly pkiFolder: string
  readonly nodeName: string
  /** Connects for a renewal; the client is closed after it. */
  readonly connect: () => Promise<Client>
}

/**
 * The client certificate in the kubelet's folder, renewed with itself (`rotateCertificates`). One of another node or
 * user is replaced now.
 */
export function clientCertificate({ pkiFolder, nodeName, connect, ...options }: ClientCertificateOptions) {
  return new ManagedCertificate({
    ...options,
    store: new CertificateStore(pkiFolder, 'kubelet-client'),
    isCurrent: (pair) => certificateOf(pair).subject === `O=system:nodes\nCN=system:node:${nodeName}`,
    async renew(signal): Promise<KeyPair> {
      const key = await createKey()
      const request = signingRequest(key, subjectOf(nodeName))
      const client = await connect()
      try {
        return { key, cert: await requestCertificate(client, { request, signerName }, signal) }
      } finally {
        client.close()
      }
    },
  })
}

/** Credentials of the kubelet's connection: new handshakes use the newest certificate. */
export function certificateCredentials(certificate: Pick<ManagedCertificate, 'current'>): Credentials {
  let used: KeyPair | undefined
  return {
    async certificate() {
      used = certificate.current
      return used
    },
    invalidate: () => used !== certificate.current,
  }
}
