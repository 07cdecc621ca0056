/**
 * Finds out if a server is the cluster that a machine shall join (kubeadm's discovery by token): `cluster-info` must be
 * signed with the token, and its authority must be the expected one. Only then the server gets the token.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, type ServerAccess } from '../../../client/connection/connection.ts'
import type { ConfigMap } from '../../../client/kinds.ts'
import { detachedSignature } from '../../../controllers/bootstrap-tokens/signatures.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { isLoopbackHost } from '../../../lib/loopback-host.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { caHash, certificatesIn } from '../ca-hash.ts'
import { type ClusterPlace, clusterInfo, kubeconfigKey, placeIn } from '../cluster-info.ts'
import type { BootstrapToken } from '../tokens/token-form.ts'
import { clockDifference } from './clock.ts'

export interface DiscoveryOptions {
  /** `https://192.0.2.1:6443` */
  readonly url: string
  readonly token: BootstrapToken
  /** The expected authority, of which one is enough; undefined: any authority is trusted that the token has signed. */
  readonly pins: readonly string[] | undefined
  readonly signal: AbortSignal
  /** Returns ms since 1970. */
  readonly now: () => number
}

/** A new token is signed within a moment: time for it, in ms. */
const signatureMs = 3_000
const [retryMs, requestMs] = [250, 10_000]
const path = `/api/v1/namespaces/${clusterInfo.namespace}/configmaps/${clusterInfo.name}`

/** Resolves with the address that was given, and the authority. Rejects with an ExplainedError. */
export async function discover(options: DiscoveryOptions): Promise<ClusterPlace> {
  const { url, pins } = options
  const text = await signedText(options)
  const place = placeIn(text)
  if (!place) throw new ExplainedError(`the cluster at ${url} publishes no authority in cluster-info: ${notOfCluster}`)
  if (pins && !certificatesIn(place.ca).some((cert) => pins.includes(caHash(cert)))) throw wrongAuthority(url, place.ca)
  // The server must have a certificate of the authority, too, and publish the same.
  const { text: verified } = await read({ url, ca: place.ca }, options)
  if (verified !== text) throw new ExplainedError(`the cluster at ${url} changed while it was checked: join again`)
  return { url, ca: place.ca }
}

/** The kubeconfig of `cluster-info` whose signature fits. */
async function signedText(options: DiscoveryOptions): Promise<string> {
  const { url, token, signal, now } = options
  const end = now() + signatureMs
  for (;;) {
    const { text, signature } = await read({ url, insecure: true }, options)
    if (signature === detachedSignature(text, token)) return text
    if (signature !== undefined)
      throw new ExplainedError(
        `the secret of the token ${token.id} is not the one that the cluster at ${url} knows (failed to verify JWS ` +
          'signature of received cluster-info object): t8s token list on the server shows it',
      )
    if (now() >= end)
      throw new ExplainedError(
        `token id ${JSON.stringify(token.id)} is invalid for this cluster or it has expired: make a new one with t8s ` +
          'token create --print-join-command on the machine of the server',
      )
    await delay(retryMs, undefined, { signal })
  }
}

interface SignedInfo {
  readonly text: string
  readonly signature: string | undefined
}

/** Reads `cluster-info` as an anonymous user. */
async function read(access: ServerAccess, { url, token, signal, now }: DiscoveryOptions): Promise<SignedInfo> {
  const connection = new Connection(access)
  try {
    const response = await connection.send({ method: 'GET', path, signal, timeoutMs: requestMs })
    const chunks: Buffer[] = []
    for await (const chunk of response.body) chunks.push(chunk)
    checkClock(response.headers.date, url, now())
    if (response.status !== 200) throw new ExplainedError(`${statusText(url, response.status)}: ${notOfCluster}`)
    const { data = {} }: ConfigMap = JSON.parse(Buffer.concat(chunks).toString())
    return { text: data[kubeconfigKey] ?? '', signature: data[`jws-kubeconfig-${token.id}`] }
  } catch (error) {
    if (error instanceof ExplainedError || signal.aborted) throw error
    throw unreachable(url, error)
  } finally {
    connection.close()
  }
}

const notOfCluster = 'clusters of kubeadm publish it, and those of t8s up on disk with --bind-address 0.0.0.0'

const statusText = (url: string, status: number): string =>
  `the server at ${url} answers ${status} in place of the ConfigMap cluster-info in kube-public`

function unreachable(url: string, error: unknown): ExplainedError {
  const { hostname } = new URL(url)
  const isLocal = isLoopbackHost(hostname)
  const hint = isLocal
    ? 'that is an address of this machine; the server of another machine has the address that t8s up ' +
      '--bind-address 0.0.0.0 prints with t8s token create --print-join-command'
    : 'check the address, and that the server listens on it: t8s up listens on loopback, unless it is started with ' +
      '--bind-address 0.0.0.0'
  const reason = messageOf(error)
    .replace(/^GET \S+: /, '')
    .replace(`${url} is unreachable: `, '')
  return new ExplainedError(`cannot join the cluster at ${url}: ${reason}: ${hint}`, { cause: error })
}

function checkClock(date: string | undefined, url: string, now: number): void {
  const difference = clockDifference(date, now)
  if (difference !== undefined)
    throw new ExplainedError(
      `the clock of this machine is ${difference} the server's at ${url}, so certificates would not be valid: set ` +
        'the time of both machines, for example with chrony, and join again',
    )
}

const wrongAuthority = (url: string, ca: string): ExplainedError =>
  new ExplainedError(
    `the authority of the cluster at ${url} has the hash ${certificatesIn(ca).map(caHash).join(' or ')}, not the one ` +
      'of --discovery-token-ca-cert-hash (cluster CA found in cluster-info ConfigMap is invalid): check that it is ' +
      'the right cluster, and take the hash from t8s token create --print-join-command',
  )
