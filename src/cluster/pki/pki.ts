/**
 * The certificates of a cluster: authority, server, administrator, and the key that signs service account tokens.
 * On disk they carry kubeadm's names; what is there and valid is used again. Authorities are never replaced
 * (`kept-authority.ts`).
 */
import type { KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import { type CertificateRequest, issueCertificate, makeAuthority } from './certificates.ts'
import {
  type AuthorityPlan,
  expiryWarning,
  keptAuthority,
  keptServiceAccountKey,
  makeServiceAccountKey,
  readServiceAccountKey,
} from './kept-authority.ts'
import { isUsable, type KeyPair } from './key-pair.ts'

export interface ClusterPki {
  readonly authority: KeyPair
  readonly server: KeyPair
  /** A client certificate of the group system:masters. */
  readonly admin: KeyPair
  /** How the server shows itself to kubelets. */
  readonly kubeletClient: KeyPair
  /** What kubelets in this process serve with; made when it is first asked for. */
  readonly kubeletServer: () => Promise<KeyPair>
  /**
   * How the server shows itself to the servers of aggregated APIs: an authority and a client certificate of their own.
   */
  readonly frontProxy: FrontProxy
  /** The private RSA key that signs service account tokens; made when it is first asked for. */
  readonly serviceAccountKey: () => Promise<KeyObject>
  /** Names of what was made now, empty when everything was there. */
  readonly made: readonly string[]
  /** Lines for the log, such as about an authority that expires soon. */
  readonly warnings: readonly string[]
}

export interface FrontProxy {
  readonly authority: KeyPair
  readonly client: KeyPair
  /** Whom the certificate names. */
  readonly name: string
}

const adminRequest: CertificateRequest = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
  usage: 'client',
}
/** Kubelets ask what it may do: everything, as a member of this group. */
const kubeletClientRequest: CertificateRequest = {
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
  usage: 'client',
}
/** The address at which they listen, and the name of the metrics API, which they answer too. */
const kubeletHosts = ['127.0.0.1', 'localhost', 'metrics-server.kube-system.svc']
const kubeletServerRequest: CertificateRequest = { commonName: 'kubelet', usage: 'server', hosts: kubeletHosts }
/** Whoever shows it may say who a user is: the authority of users must not have signed it. */
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
 * The certificates kept in `directory`; missing, expiring or unfitting ones are made. `hosts` is what the server's must
 * cover. Rejects with an ExplainedError for an authority, or a key of service accounts, that is damaged or missing
 * beside what it has signed.
 */
export async function filePki(directory: string, hosts: readonly string[], now = new Date()): Promise<ClusterPki> {
  explained(directory, () => makeDirectory(directory, 0o700))
  const made: string[] = []

  async function keep(
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
    made.push(name)
    return pair
  }

  const warnings: string[] = []
  const keepAuthority = async (plan: AuthorityPlan): Promise<KeyPair> => {
    const { pair, isNew } = await keptAuthority(directory, plan, now)
    if (isNew) made.push(plan.name)
    const warning = expiryWarning(directory, plan, pair, now)
    if (warning) warnings.push(warning)
    return pair
  }
  const keepIssued = (name: string, by: KeyPair, request: CertificateRequest): Promise<KeyPair> =>
    keep(
      name,
      (pair) => isUsable(pair, { now, authority: by, hosts: request.hosts }),
      () => issueCertificate(by, request, now),
    )
  // Before anything is made: a start that is refused changes nothing.
  readServiceAccountKey(directory)
  const authority = await keepAuthority(authorities.users)
  const frontProxyAuthority = await keepAuthority(authorities.frontProxy)
  const [server, admin, kubeletClient, frontProxyClient] = await Promise.all([
    keepIssued('apiserver', authority, serverRequest(hosts)),
    keepIssued('admin', authority, adminRequest),
    keepIssued('apiserver-kubelet-client', authority, kubeletClientRequest),
    keepIssued('front-proxy-client', frontProxyAuthority, frontProxyRequest),
  ])
  return {
    authority,
    server,
    admin,
    kubeletClient,
    frontProxy: frontProxyOf(frontProxyAuthority, frontProxyClient),
    kubeletServer: once(() => keepIssued('kubelet', authority, kubeletServerRequest)),
    // Later ones are nobody's concern any more.
    made: [...made],
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
 * Certificates that live in memory. All clusters of a process share one authority, so that only the first start pays
 * for it: an administrator of one is an administrator of all of them, which is right for tests and for nothing else.
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
    made: [],
    warnings: [],
  }
}

/** A pair from its two files; undefined if either is missing. */
function readPair(directory: string, name: string): KeyPair | undefined {
  const cert = join(directory, `${name}.crt`)
  const key = join(directory, `${name}.key`)
  if (!existsSync(cert) || !existsSync(key)) return undefined
  return explained(directory, () => ({ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }))
}

/** The key that signs tokens: kept in `directory`, or only in memory. Made when it is first asked for. */
export const serviceAccountKey = (directory?: string): (() => Promise<KeyObject>) =>
  once(() => (directory ? keptServiceAccountKey(directory) : makeServiceAccountKey()))

/** Runs `action` at most once; later calls get the same promise, unless it failed. */
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
      `cannot keep certificates in ${directory}: ${reasonOf(error)}; choose another directory with --data-dir or ` +
        'mend its permissions',
      {
        cause: error,
      },
    )
  }
}
