/** Reads a kubeconfig for the connection of this server to another one, such as a webhook. Exec plugins are not run. */
import { type Connection, connectionOf } from './connection.ts'
import { type EntryKind, type KubeconfigEntry, notUsable, readKubeconfigFile, text } from './kubeconfig-file.ts'

export interface ReadKubeconfigOptions {
  /** True to allow http. Default: false. */
  readonly allowsHttp?: boolean
}

/** Reads the current context. Rejects with an ExplainedError that names the file. */
export async function readKubeconfig(
  file: string,
  { allowsHttp = false }: ReadKubeconfigOptions = {},
): Promise<Connection> {
  const config = await readKubeconfigFile(file)
  // Kubeconfigs of webhooks often have no context, only one cluster and one user.
  const entry = (kind: EntryKind, name: string | undefined): KubeconfigEntry | undefined => {
    const entries = config.entries(kind)
    return name ? entries.get(name) : entries.size === 1 ? [...entries.values()][0] : undefined
  }
  const context = entry('context', config.currentContext)?.fields
  const cluster = entry('cluster', text(context?.cluster))
  const user = entry('user', text(context?.user))
  const server = text(cluster?.fields.server)
  if (!cluster || !server) throw notUsable(file, 'it has no server (clusters[].cluster.server)')
  if (user?.fields.exec || user?.fields['auth-provider'])
    throw notUsable(file, 'plug-ins for credentials (exec, auth-provider) are not run: give a token or a certificate')
  const url = URL.parse(server)
  if (url?.protocol !== 'https:' && !(allowsHttp && url?.protocol === 'http:')) {
    throw notUsable(file, `${JSON.stringify(server)} is not an ${allowsHttp ? 'http or https' : 'https'} URL`)
  }
  const connection = await connectionOf(url, cluster, user)
  if (!connection.cert !== !connection.key) throw notUsable(file, 'client-certificate and client-key go together')
  return connection
}
