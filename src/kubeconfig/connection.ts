/** Combines the cluster entry and the user entry of a kubeconfig: the server, its identity, and the credentials. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type KubeconfigEntry, pemOf, text } from './kubeconfig-file.ts'

/** Certificates and keys are PEM. */
export interface Connection {
  readonly url: URL
  readonly ca?: string
  readonly insecure: boolean
  readonly serverName?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Read for each request, since such tokens are renewed in place. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: string }
  /** The proxy: http, https or socks5. */
  readonly proxyUrl?: string
  /** The user to impersonate. */
  readonly impersonate?: ImpersonatedUser
}

export interface ImpersonatedUser {
  readonly userName: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Rejects with an ExplainedError for files that cannot be read. */
export async function connectionOf(
  url: URL,
  cluster: KubeconfigEntry,
  user: KubeconfigEntry | undefined,
): Promise<Connection> {
  const [ca, credentials] = await Promise.all([pemOf(cluster, 'certificate-authority'), user && credentialsOf(user)])
  const serverName = text(cluster.fields['tls-server-name'])
  const proxyUrl = text(cluster.fields['proxy-url'])
  const impersonate = user && impersonatedBy(user)
  return {
    url,
    insecure: cluster.fields['insecure-skip-tls-verify'] === true,
    ...(ca && { ca }),
    ...(serverName && { serverName }),
    ...(proxyUrl && { proxyUrl }),
    ...(impersonate && { impersonate }),
    ...credentials,
  }
}

/** Reads the credentials of a user entry, except exec plugins. Rejects with an ExplainedError for unreadable files. */
export async function credentialsOf(
  user: KubeconfigEntry,
): Promise<Pick<Connection, 'cert' | 'key' | 'token' | 'tokenFile' | 'basic'>> {
  const [cert, key] = await Promise.all([pemOf(user, 'client-certificate'), pemOf(user, 'client-key')])
  return { ...(cert && { cert }), ...(key && { key }), ...secretsOf(user) }
}

/** As in client-go, `tokenFile` has precedence over `token`. */
function secretsOf({ fields, folder }: KubeconfigEntry): Pick<Connection, 'token' | 'tokenFile' | 'basic'> {
  const token = text(fields.token)
  const tokenFile = text(fields.tokenFile)
  const username = text(fields.username)
  return {
    ...(token && !tokenFile && { token }),
    ...(tokenFile && { tokenFile: resolve(folder, tokenFile) }),
    ...(username && { basic: { username, password: text(fields.password) ?? '' } }),
  }
}

function impersonatedBy({ fields }: KubeconfigEntry): ImpersonatedUser | undefined {
  const userName = text(fields.as)
  const uid = text(fields['as-uid'])
  const groups = fields['as-groups'] as readonly string[] | undefined
  const extra = fields['as-user-extra'] as Readonly<Record<string, readonly string[]>> | undefined
  return userName ? { userName, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) } : undefined
}

/**
 * Returns a function for the current `authorization` header, or undefined without token and password. It rejects for an
 * unreadable token file.
 */
export function authorizationOf({
  token,
  tokenFile,
  basic,
}: Pick<Connection, 'token' | 'tokenFile' | 'basic'>): (() => Promise<string>) | undefined {
  if (tokenFile) return async () => `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`
  if (token) return async () => `Bearer ${token}`
  return basic && (async () => `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`)
}
