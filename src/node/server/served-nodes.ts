/** The interface of the owner of nodes: a kubelet has one node, the simulation many behind one address. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Upgrade } from '../streaming/upgrade.ts'
import type { LogOptions } from './log-options.ts'

/** A container, or a pod, as a path names it. */
export interface ContainerPath {
  readonly namespace: string
  readonly name: string
  /** Selects one of several pods of this name; undefined for most clients. */
  readonly uid?: string
  /** Empty for a path of a pod. */
  readonly container: string
}

/** A request for a document about a node. */
export interface PageRequest {
  readonly method: string
  readonly path: string
  /** The parts of the path, decoded. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
  /** Reads the body. Rejects with an HttpError if it is too large. */
  body(): Promise<string>
  /** Aborted when the client has left, or the response is complete. */
  readonly signal: AbortSignal
}

export interface Page {
  /** Default: 200. */
  readonly status?: number
  readonly type: string
  readonly text: string | Readable
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServedNodes {
  /** The name of the node that a request is about. Throws an HttpError if it is unknown, or cannot be reached. */
  nodeOf(request: IncomingMessage, pod: ContainerPath | undefined): string
  /** A document about a node; undefined for an unknown path. Rejects with an HttpError. */
  page(request: PageRequest, nodeName: string): Page | undefined | Promise<Page | undefined>
  /**
   * The log of a container, with the selected lines; the server limits its bytes. Rejects with an HttpError if there is
   * none. It is abandoned (`return()`) when the client leaves: `signal` is aborted.
   */
  log(container: ContainerPath, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  /**
   * Serves `exec`, `attach` or `portForward`. Rejects with an HttpError, before it has answered, if it cannot. Most use
   * `serveStream`.
   */
  stream(upgrade: Upgrade, kind: string, container: ContainerPath, query: URLSearchParams): Promise<void>
}
