/** Whom a cluster takes the bearer of a token for. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Reach } from '../support/reachable-cluster.ts'

export interface WhoAmI {
  readonly status: number
  readonly user?: { readonly username: string; readonly groups?: readonly string[]; readonly uid?: string; readonly extra?: object }
}

const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

export async function whoami({ client, url }: Reach, token: string): Promise<WhoAmI> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = request(new URL(path, url), { ca: client.ca, agent: false, method: 'POST', headers })
  const [response]: IncomingMessage[] = await once(sent.end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'), 'response')
  const { status } = JSON.parse(Buffer.concat(await response!.toArray()).toString())
  return { status: response!.statusCode ?? 0, ...(typeof status === 'object' && { user: status.userInfo }) }
}
