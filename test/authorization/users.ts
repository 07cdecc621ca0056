/** A cluster whose users have tokens, and requests of these users. Paths are sent unchanged. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { apiControllers, type Lifetime, type TestCluster, testCluster } from '../support/test-cluster.ts'

export interface Answered {
  readonly status: number
  readonly body: { readonly message?: string; readonly reason?: string; readonly [field: string]: unknown }
}

export interface Users {
  readonly cluster: TestCluster
  /** Sends a request as a user; anonymous if the name is empty. */
  as(
    user: string,
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered>
}

export const rbac = '/apis/rbac.authorization.k8s.io/v1'
export const apiGroup = 'rbac.authorization.k8s.io'

/** `users` has groups by user name. The token of a user is the name. */
export async function clusterWithUsers(
  t: Lifetime,
  users: Readonly<Record<string, readonly string[]>>,
): Promise<Users> {
  const cluster = await testCluster(t, {
    controllers: apiControllers,
    tokens: Object.entries(users).map(([name, groups]) => ({ token: name, user: { name, groups } })),
  })
  const { hostname: host, port } = new URL(cluster.url)
  return {
    cluster,
    async as(user, method, path, body, headers = {}) {
      const type = body ? { 'content-type': 'application/json' } : {}
      const sent = request({
        host,
        port,
        ca: cluster.client.ca,
        agent: false,
        method,
        path,
        headers: { ...type, ...(user && { authorization: `Bearer ${user}` }), ...headers },
      })
      const [response]: IncomingMessage[] = await once(sent.end(body && JSON.stringify(body)), 'response')
      const text = Buffer.concat(await response!.toArray()).toString()
      return { status: response!.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : { message: text } }
    },
  }
}

export const userSubject = (name: string) => ({ kind: 'User', apiGroup, name })

export const binding = (name: string, kind: string, role: string, ...subjects: readonly object[]) => ({
  metadata: { name },
  roleRef: { apiGroup, kind, name: role },
  subjects,
})
