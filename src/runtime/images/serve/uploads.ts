/** Uploads of blobs: in one request, or in several that each append a chunk. */
import { randomBytes } from 'node:crypto'
import { createWriteStream, mkdirSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isDigest } from '../formats/digest.ts'
import type { ImageStore } from '../store/image-store.ts'
import { type Lease, ownName } from '../store/leases.ts'
import { digestOfFile } from './file-digest.ts'
import { respondError } from './registry-responses.ts'

export class Uploads {
  readonly #store: ImageStore
  readonly #lease: Lease
  readonly #folder: string
  /** Files by ID. */
  readonly #open = new Map<string, string>()

  constructor(store: ImageStore, lease: Lease) {
    this.#store = store
    this.#lease = lease
    this.#folder = join(store.paths.unfinished, `${ownName()}.${randomBytes(6).toString('hex')}`)
  }

  /** Answers requests below `/v2/REPOSITORY/blobs/uploads/`. */
  async handle(request: IncomingMessage, response: ServerResponse, url: URL, repository: string): Promise<void> {
    const id = url.pathname.split('/').at(-1) ?? ''
    const digest = url.searchParams.get('digest')
    if (request.method === 'POST') {
      await this.#begin(request, response, url, repository)
      return
    }
    const file = this.#open.get(id)
    if (!file) {
      respondError(response, 404, 'BLOB_UPLOAD_UNKNOWN', `upload ${id} is not known`)
      return
    }
    switch (request.method) {
      case 'GET':
        this.#accepted(response, 204, repository, id)
        return
      case 'PATCH':
        if (!(await this.#append(request, response, file))) return
        this.#accepted(response, 202, repository, id)
        return
      case 'PUT':
        if (await this.#append(request, response, file)) await this.#finish(response, repository, id, digest)
        return
      case 'DELETE':
        this.#forget(id)
        response.writeHead(204).end()
        return
      default:
        respondError(response, 405, 'UNSUPPORTED', 'the method is not allowed')
    }
  }

  async #begin(request: IncomingMessage, response: ServerResponse, url: URL, repository: string): Promise<void> {
    const mount = url.searchParams.get('mount')
    const digest = url.searchParams.get('digest')
    if (mount && isDigest(mount)) {
      await this.#lease.add([mount])
      // All repositories share the blobs.
      if (this.#store.blobs.has(mount)) {
        created(response, repository, mount)
        return
      }
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const id = randomBytes(16).toString('hex')
    this.#open.set(id, join(this.#folder, id))
    if (digest === null) {
      request.resume()
      await pipeline([], createWriteStream(join(this.#folder, id)))
      this.#accepted(response, 202, repository, id)
    } else if (await this.#append(request, response, join(this.#folder, id)))
      await this.#finish(response, repository, id, digest)
  }

  /** Appends a body. Answers and returns false if it does not continue the upload. */
  async #append(request: IncomingMessage, response: ServerResponse, file: string): Promise<boolean> {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    const start = /^(?:bytes )?(\d+)-/.exec(request.headers['content-range'] ?? '')?.[1]
    if (start !== undefined && Number(start) !== size) {
      request.resume()
      response.writeHead(416, { range: `0-${Math.max(0, size - 1)}` }).end()
      return false
    }
    await pipeline(request, createWriteStream(file, { flags: 'a', mode: 0o600 }))
    return true
  }

  async #finish(response: ServerResponse, repository: string, id: string, digest: string | null): Promise<void> {
    const file = this.#open.get(id)!
    const found = await digestOfFile(file)
    if (digest === null || found !== digest) {
      this.#forget(id)
      respondError(response, 400, 'DIGEST_INVALID', `the blob has the digest ${found}`)
      return
    }
    await this.#lease.add([found])
    this.#store.blobs.adopt(file, found)
    this.#open.delete(id)
    created(response, repository, found)
  }

  #accepted(response: ServerResponse, status: number, repository: string, id: string): void {
    const { size } = statSync(this.#open.get(id)!)
    response.writeHead(status, {
      location: `/v2/${repository}/blobs/uploads/${id}`,
      range: `0-${Math.max(0, size - 1)}`,
      'docker-upload-uuid': id,
    })
    response.end()
  }

  #forget(id: string): void {
    const file = this.#open.get(id)
    this.#open.delete(id)
    if (file) rmSync(file, { force: true })
  }
}

function created(response: ServerResponse, repository: string, digest: string): void {
  response.writeHead(201, { location: `/v2/${repository}/blobs/${digest}`, 'docker-content-digest': digest }).end()
}
