/**
 * The certificates of a cluster: authority, server, administrator, and the key that signs service account tokens. Files
 * have kubeadm's names and are reused if valid. Authorities are never replaced (`stored-authority.ts`).
 */
import type { KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import { type CertificateRequest, issueCertificate, makeAuthority } from '../../lib/x509/certificates.ts'
import { isUsable, type KeyPair } from './key-pair.ts'
import {
  type AuthorityPlan,
  expiryWarning,
  makeServiceAccountKey,
  readServiceAccountKey,
  storedAuthority,
  storedServiceAccountKey,
} from './stored-authority.ts'

export interface ClusterPki {
  readonly authority: KeyPair
  readonly server: KeyPair
  /** A client certificate of the group system:masters. */
  readonly admin: KeyPair
  /** The API server's client certificate for kubelets. */
  readonly kubeletClient: KeyPair
  /** Serving certificate of kubelets in this process; created on the first call. */
  readonly kubeletServer: () => Promise<KeyPair>
  /** The API server's client certificate for the servers of aggregated APIs, with its own authority. */
  readonly frontProxy: FrontProxy
  /** The private RSA key that signs service account tokens; created on the first call. */
  readonly serviceAccountKey: () => Promise<KeyObject>
  /** Names of the certificates created by this call. */
  readonly created: readonly string[]
  /** Lines for the log, such as about an authority that expires soon. */
  readonly warnings: readonly string[]
}

export interface FrontProxy {
  readonly authority: KeyPair
  readonly client: KeyPair
  /** Common name of the certificate. */
  readonly name: string
}

const adminRequest: CertificateRequest = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
  usage: 'client',
}
/** Kubelets ask the API server for its rights; members of this group have all. */
const kubeletClientRequest: CertificateRequest = {
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
  usage: 'client',
}
/** The address at which they listen, and the name of the metrics API, which they also serve. */
const kubeletHosts = ['127.0.0.1', 'localhost']
const kubeletServerRequest: CertificateRequest = { commonName: 'kubelet', usage: 'server', hosts: kubeletHosts }
/** Its owner may act as any user, so the authority of users must not sign it. */
const frontProxyRequest: CertificateRequest = { commonName: 'front-proxy-client', usage: 'client' }
const frontProxyOf = (authority: KeyPair, client: KeyPair): FrontProxy => ({
  authority,
  client,
  name: frontProxyRequest.commonName,
})
const authorities = {
  users: { name: 'ca', commonName: 'kubernetes', signs: ['apiserver', 'admin', 'apiserver-kubelet-client', 'kubelet'] },
  frontProxy: { name: 'front-proxy-ca', commonName: 'front-proxy-ca', signs: ['front-proxy-client'] },
} as const satisfies Readonly<Record<string, AuthorityPlan>>
const serverRequest = (hosts: readonly string[]): CertificateRequest => ({
  commonName: 'kube-apiserver',
  usage: 'server',
  hosts,
})

/**
 * Reads the certificates in `directory` and creates missing, expiring or unsuitable ones. The server's covers `hosts`.
 * Rejects with an ExplainedError for a damaged authority or service account key, or one that is missing although it has
 * signed others.
 */
export async function filePki(directory: string, hosts: readonly string[], now = new Date()): Promise<ClusterPki> {
  explained(directory, () => makeDirectory(directory, 0o700))
  const createdNames: string[] = []

  async function ensurePair(
    name: string,
    usable: (pair: KeyPair) => boolean,
    make: () => Promise<KeyPair>,
  ): Promise<KeyPair> {
    const present = readPair(directory, name)
    if (present && usable(present)) return present
    const pair = await make()
    explained(directory, () => {
      writeFileAtomically(join(directory, `${name}.key`), pair.key, 0o600)
      writeFileAtomically(join(directory, `${name}.crt`), pair.cert, 0o644)
    })
    createdNames.push(name)
    return pair
  }

  const warnings: string[] = []
  const ensureAuthority = async (plan: AuthorityPlan): Promise<KeyPair> => {
    const { pair, isNew } = await storedAuthority(directory, plan, now)
    if (isNew) createdNames.push(plan.name)
    const warning = expiryWarning(directory, plan, pair, now)
    if (warning) warnings.push(warning)
    return pair
  }
  const ensureIssued = (name: string, by: KeyPair, request: CertificateRequest): Promise<KeyPair> =>
    ensurePair(
      name,
      (pair) => isUsable(pair, { now, authority: by, hosts: request.hosts }),
      () => issueCertificate(by, request, now),
    )
  // Checked first, so that a failing start changes nothing.
  readServiceAccountKey(directory)
  const authority = await ensureAuthority(authorities.users)
  const frontProxyAuthority = await ensureAuthority(authorities.frontProxy)
  const [server, admin, kubeletClient, frontProxyClient] = await Promise.all([
    ensureIssued('apiserver', authority, serverRequest(hosts)),
    ensureIssued('admin', authority, adminRequest),
    ensureIssued('apiserver-kubelet-client', authority, kubeletClientRequest),
    ensureIssued('front-proxy-client', frontProxyAuthority, frontProxyRequest),
  ])
  return {
    authority,
    server,
    admin,
    kubeletClient,
    frontProxy: frontProxyOf(frontProxyAuthority, frontProxyClient),
    kubeletServer: once(() => ensureIssued('kubelet', authority, kubeletServerRequest)),
    // A copy, without later certificates.
    created: [...createdNames],
    warnings,
    serviceAccountKey: serviceAccountKey(directory),
  }
}

interface SharedPki {
  readonly authority: KeyPair
  readonly admin: KeyPair
  readonly kubeletClient: KeyPair
  readonly frontProxy: FrontProxy
  readonly serviceAccountKey: () => Promise<KeyObject>
  readonly kubeletServer: () => Promise<KeyPair>
  readonly servers: Map<string, Promise<KeyPair>>
}

const sharedPki = once(async (): Promise<SharedPki> => {
  const now = new Date()
  const [authority, frontProxyAuthority] = await Promise.all([
    makeAuthority(authorities.users.commonName, now),
    makeAuthority(authorities.frontProxy.commonName, now),
  ])
  const [admin, kubeletClient, client] = await Promise.all([
    issueCertificate(authority, adminRequest, now),
    issueCertificate(authority, kubeletClientRequest, now),
    issueCertificate(frontProxyAuthority, frontProxyRequest, now),
  ])
  return {
    authority,
    admin,
    kubeletClient,
    kubeletServer: once(() => issueCertificate(authority, kubeletServerRequest, now)),
    frontProxy: frontProxyOf(frontProxyAuthority, client),
    serviceAccountKey: serviceAccountKey(),
    servers: new Map(),
  }
})

/**
 * Creates certificates in memory. All clusters of a process share one authority, so that only the first start pays for
 * it. The administrator of one is the administrator of all, which is suitable only for tests.
 */
export async function memoryPki(hosts: readonly string[]): Promise<ClusterPki> {
  const { authority, admin, kubeletClient, kubeletServer, frontProxy, serviceAccountKey, servers } = await sharedPki()
  const key = hosts.join()
  let server = servers.get(key)
  if (!server) {
    server = issueCertificate(authority, serverRequest(hosts), new Date())
    servers.set(key, server)
  }
  return {
    authority,
    admin,
    kubeletClient,
    kubeletServer,
    frontProxy,
    server: await server,
    serviceAccountKey,
    created: [],
    warnings: [],
  }
}

/** Reads a pair from its two files; undefined if either is missing. */
function readPair(directory: string, name: string): KeyPair | undefined {
  const cert = join(directory, `${name}.crt`)
  const key = join(directory, `${name}.key`)
  if (!existsSync(cert) || !existsSync(key)) return undefined
  return explained(directory, () => ({ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }))
}

/** The key that signs tokens, stored in `directory` or in memory. Created on the first call. */
export const serviceAccountKey = (directory?: string): (() => Promise<KeyObject>) =>
  once(() => (directory ? storedServiceAccountKey(directory) : makeServiceAccountKey()))

/** Runs `action` at most once; later calls return the same promise, unless it failed. */
function once<T>(action: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= action().catch((error) => {
      result = undefined
      throw error
    })
    return result
  }
}

function explained<T>(directory: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new ExplainedError(
      `cannot store certificates in ${directory}: ${reasonOf(error)}; choose another directory with --data-dir or ` +
        'fix its permissions',
      {
        cause: error,
      },
    )
  }
}
