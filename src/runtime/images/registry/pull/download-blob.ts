/** Downloads blobs into the store: resumes broken downloads, and downloads none twice. */
import { KeyedQueue } from '../../../../lib/flow/keyed-queue.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import type { Descriptor } from '../../formats/manifest.ts'
import { ImageError } from '../../image-error.ts'
import type { BlobStore, Ingest } from '../../store/blob-store.ts'
import type { BlobResponse } from '../registry-client.ts'
import { canceled } from '../transport/http-exchange.ts'
import { type RetryOptions, withRetries } from '../transport/retry.ts'

/** Progress of one blob. */
export interface BlobProgress {
  readonly digest: string
  /** Bytes that are present. */
  readonly received: number
  /** In bytes. */
  readonly size: number
  readonly isDone: boolean
}

export interface DownloadOptions {
  readonly blobs: BlobStore
  readonly retries: RetryOptions
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: BlobProgress) => void
  /** Requests the blob from an offset in bytes. */
  request(descriptor: Descriptor, offset: number, signal: AbortSignal | undefined): Promise<BlobResponse>
}

/** Several pulls of one process want the same layers. */
const downloads = new KeyedQueue()

/** Makes a blob present. Rejects with an ImageError; what has arrived remains for the next attempt. */
export function downloadBlob(descriptor: Descriptor, options: DownloadOptions): Promise<void> {
  const { blobs, retries, signal, onProgress } = options
  const { digest, size } = descriptor
  return downloads.run(blobs.path(digest), async () => {
    if (!blobs.has(digest))
      await withRetries((progress) => downloadOnce(descriptor, options, progress), { ...retries, signal })
    onProgress?.({ digest, received: size, size, isDone: true })
  })
}

async function downloadOnce(descriptor: Descriptor, options: DownloadOptions, progress: () => void): Promise<void> {
  const { blobs, signal } = options
  if (signal?.aborted) throw canceled(signal)
  const ingest = await blobs.ingest(descriptor.digest, descriptor.size)
  try {
    if (ingest.offset < descriptor.size || descriptor.size === 0) await receive(descriptor, ingest, options, progress)
    ingest.commit()
  } finally {
    ingest.suspend()
  }
}

async function receive(
  descriptor: Descriptor,
  ingest: Ingest,
  { request, signal, onProgress }: DownloadOptions,
  progress: () => void,
): Promise<void> {
  const { digest, size } = descriptor
  const { body, isPartial } = await request(descriptor, ingest.offset, signal)
  let received = ingest.offset
  if (!isPartial && received > 0) {
    ingest.restart()
    received = 0
  }
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      ingest.write(chunk)
      received += chunk.length
      progress()
      onProgress?.({ digest, received, size, isDone: false })
    }
  } catch (error) {
    body.destroy()
    if (error instanceof ImageError) throw error
    throw new ImageError('Unavailable', `failed to copy ${digest}: ${messageOf(error)}`, { cause: error })
  }
}
