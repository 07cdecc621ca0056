/** How a machine gets its first access to a cluster: by discovery and a bootstrap token, or by a file. */
import { connectTo } from '../../../client/connection/connect-to.ts'
import { bearerToken } from '../../../client/connection/credentials/credentials.ts'
import { nodes } from '../../../client/kinds.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import { toYaml } from '../../../machinery/yaml.ts'
import { checkPin } from '../ca-hash.ts'
import type { ClusterPlace } from '../cluster-info.ts'
import { discover } from '../discovery/discover.ts'
import { placeOfFile } from '../discovery/discovery-file.ts'
import { type BootstrapToken, parseToken, tokenText } from '../tokens/token-form.ts'
import { clusterSettings } from './cluster-settings.ts'
import type { KnownCluster, NodeFolder } from './node-folder.ts'

/** How the cluster is found and trusted. */
export interface JoinCredentials {
  /** `https://192.0.2.1:6443`, or only `192.0.2.1:6443` as for kubeadm. */
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly pins: readonly string[]
  readonly skipsAuthority: boolean
  /** A kubeconfig with the address and the authority, in place of the token's signature. */
  readonly discoveryFile?: string | undefined
}

export interface FirstAccessOptions {
  readonly credentials: JoinCredentials
  readonly folder: NodeFolder
  readonly nodeName: string
  readonly log: (line: string) => void
  readonly signal: AbortSignal
}

/** Writes the kubeconfig with the bootstrap token. Rejects with an ExplainedError. */
export async function firstAccess(options: FirstAccessOptions): Promise<KnownCluster> {
  const { folder, nodeName, credentials, log } = options
  const token = tokenOf(credentials)
  const place = await placeOf(options, token)
  const client = await connectTo({ access: { ...place, credentials: bearerToken(tokenText(token)) } })
  try {
    await checkName(client, nodeName)
    const settings = await clusterSettings(client)
    log(`cluster: its kubelets are configured by kube-system/kubelet-config${podsText(settings.podRanges)}`)
    writeFileAtomically(folder.bootstrapKubeconfig, kubeconfigText(place, token), 0o600)
    return { nodeName, url: place.url, ...settings }
  } catch (error) {
    throw error instanceof StatusError ? tokenError(place.url, token, error) : error
  } finally {
    client.close()
  }
}

const podsText = (ranges: readonly string[]): string =>
  ranges.length > 0 ? `; pods have addresses of ${ranges.join(' and ')}` : ''

function tokenOf({ token }: JoinCredentials): BootstrapToken {
  if (token !== undefined) return parseToken(token)
  throw new ExplainedError(
    'joining needs --token: t8s token create --print-join-command on the server prints all flags',
  )
}

async function placeOf({ credentials, signal, log }: FirstAccessOptions, token: BootstrapToken): Promise<ClusterPlace> {
  const { url, pins, skipsAuthority, discoveryFile } = credentials
  if (discoveryFile !== undefined) {
    const place = await placeOfFile(discoveryFile)
    log(`discovery: ${discoveryFile} names the cluster at ${place.url}`)
    return place
  }
  const server = serverUrl(url)
  if (pins.length === 0 && !skipsAuthority)
    throw new ExplainedError(
      'joining needs --discovery-token-ca-cert-hash, by which this machine knows the right cluster, or ' +
        '--discovery-token-unsafe-skip-ca-verification to trust whoever has the token: t8s token create ' +
        '--print-join-command on the server prints the hash',
    )
  const place = await discover({
    url: server,
    token,
    pins: skipsAuthority ? undefined : pins.map(checkPin),
    signal,
    now: Date.now,
  })
  const authority = skipsAuthority ? 'its authority was not verified' : 'its authority has the expected hash'
  log(`discovery: the cluster at ${server} has signed its address with token ${token.id}; ${authority}`)
  return place
}

/** Accepts an address without a scheme, as kubeadm. Throws an ExplainedError for others. */
export function serverUrl(text: string | undefined): string {
  if (text === undefined)
    throw new ExplainedError('joining needs the URL of the server: t8s join https://192.0.2.1:6443')
  const url = URL.parse(text.includes('://') ? text : `https://${text}`)
  if (url?.protocol === 'https:' && url.hostname !== '')
    return `https://${url.hostname}:${url.port || (text.includes('://') ? '443' : '6443')}`
  throw new ExplainedError(`${JSON.stringify(text)} is not the URL of a server: write it like https://192.0.2.1:6443`)
}

/** As kubeadm, refuses the name of a node that runs. */
async function checkName(client: RestClient, name: string): Promise<void> {
  const node = await client.find(nodes, '', name)
  if (!node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return
  throw new ExplainedError(
    `a Node with name ${JSON.stringify(name)} and status "Ready" already exists in the cluster: give this machine ` +
      'another name with --hostname-override, or end and delete that node (t8s leave on its machine)',
  )
}

function tokenError(url: string, { id }: BootstrapToken, error: StatusError): Error {
  if (error.code === 401)
    return new ExplainedError(
      `the cluster at ${url} does not accept the token ${id}: it has expired, or lacks the usage authentication; ` +
        'make a new one with t8s token create --print-join-command on the machine of the server',
      { cause: error },
    )
  if (error.code === 403)
    return new ExplainedError(
      `the token ${id} has no rights to join the cluster at ${url} (${error.message}): its group must be ` +
        'system:bootstrappers:kubeadm:default-node-token, as that of t8s token create',
      { cause: error },
    )
  return error
}

const kubeconfigText = ({ url, ca }: ClusterPlace, token: BootstrapToken): string => {
  const [cluster, user] = ['kubernetes', 'tls-bootstrap-token-user']
  return toYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: cluster, cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    contexts: [{ name: `${user}@${cluster}`, context: { cluster, user } }],
    'current-context': `${user}@${cluster}`,
    users: [{ name: user, user: { token: tokenText(token) } }],
  })
}
