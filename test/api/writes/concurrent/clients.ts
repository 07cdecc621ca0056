/** Clients that send requests concurrently, and the objects that they write. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Answer, type Client, clientOf, json, protocols } from '../../../support/api-client.ts'
import { startTestServer } from '../../../support/api-server.ts'

export const merge = 'application/merge-patch+json'
export const strategic = 'application/strategic-merge-patch+json'
export const jsonPatch = 'application/json-patch+json'
export const apply = 'application/apply-patch+yaml'

/** The fields of written objects that tests read. */
export interface Written {
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly managedFields?: readonly { readonly manager?: string; readonly operation?: string }[]
  }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: { readonly replicas?: number; readonly nodeName?: string; readonly ports?: readonly unknown[] }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string }[]
    readonly disruptionsAllowed?: number
    readonly disruptedPods?: Readonly<Record<string, string>>
  }
  readonly message?: string
}

export const configMap = (data: object = {}, name = 'one') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

/** Returns clients of both protocols with separate connections, used in turn. */
export async function startClients(t: TestContext, storage: 'memory' | 'log' = 'memory') {
  const server = await startTestServer(t, storage)
  const clients = [...protocols, ...protocols].map((protocol) => clientOf(t, protocol, server))
  const client = (i: number): Client => clients[i % clients.length]!
  const call = async (
    method: string,
    path: string,
    body?: object,
    type = 'application/json',
    by = 0,
  ): Promise<Answer> => client(by).request(method, path, { ...(body && { body }), headers: { 'content-type': type } })
  return {
    server,
    client,
    call,
    async create(path: string, body: object): Promise<Written> {
      const answer = await call('POST', path, body)
      assert.equal(answer.status, 201, answer.bytes.toString())
      return json<Written>(answer)
    },
    read: async (path: string): Promise<Written> => json<Written>(await call('GET', path)),
    /** Sends all requests concurrently. Returns the number of responses by status. */
    async sendConcurrently(count: number, send: (i: number) => Promise<Answer>): Promise<Record<number, number>> {
      const answers = await Promise.all(Array.from({ length: count }, (_, i) => send(i)))
      return countByStatus(answers)
    },
  }
}

export function countByStatus(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

export const keys = (record: object | undefined): string[] => Object.keys(record ?? {}).sort()
export const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`).sort()
