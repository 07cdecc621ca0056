/** A running cluster as tests see it: its kubeconfig in a file, and plain requests to it. Starts nothing. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cluster } from '../../src/cluster/start-cluster.ts'

/** The addresses and credentials of a cluster. */
export type Reach = Pick<Cluster, 'url' | 'client' | 'kubeconfigYaml'>

export interface ReachableCluster extends Reach {
  /** The path of the kubeconfig, for clients in other processes. */
  readonly kubeconfigFile: string
  /** A folder for files of the test. Deleted after it. */
  readonly folder: string
  /**
   * Sends a request as the administrator, with an object or a text. Resolves with the parsed body. Rejects if the
   * status is 400 or above.
   */
  call(method: string, path: string, body?: object | string, contentType?: string): Promise<Answer>
  /** Resolves with the body of the response to a GET. Rejects if the status is 400 or above. */
  text(path: string): Promise<string>
}

/** A parsed body. Tests read its members by name. */
export interface Answer {
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly uid: string
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

/** A test, or anything else that calls functions at its end. */
export interface Lifetime {
  after(cleanUp: () => unknown): void
}

/** Writes a cluster's kubeconfig into a folder that is deleted after the test. */
export function reachable<T extends Reach>(t: Lifetime, cluster: T): T & ReachableCluster {
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const kubeconfigFile = join(folder, 'kubeconfig')
  writeFileSync(kubeconfigFile, cluster.kubeconfigYaml, { mode: 0o600 })
  return {
    ...cluster,
    kubeconfigFile,
    folder,
    call: (...args) => call(cluster, ...args),
    text: (path) => send(cluster, 'GET', path),
  }
}

async function call(...args: Parameters<typeof send>): Promise<Answer> {
  const text = await send(...args)
  return (text ? JSON.parse(text) : {}) as Answer
}

async function send(
  { client }: Reach,
  method: string,
  path: string,
  body?: object | string,
  contentType = 'application/json',
): Promise<string> {
  const { ca, cert, key, url } = client
  const sentBody = typeof body === 'object' ? JSON.stringify(body) : body
  // Node sends no Content-Length for the body of a DELETE.
  const headers = sentBody ? { 'content-type': contentType, 'content-length': Buffer.byteLength(sentBody) } : {}
  const sent = request(new URL(path, url), { method, ca, cert, key, agent: false, headers })
  const [response]: IncomingMessage[] = await once(sent.end(sentBody), 'response')
  const text = Buffer.concat(await response!.toArray()).toString()
  if ((response!.statusCode ?? 0) >= 400) throw new Error(`${method} ${path}: ${response!.statusCode} ${text}`)
  return text
}
