/** Unpacks one layer: decompresses its blob, verifies the digest of the archive, and writes the files. */
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { messageOf } from '../../../lib/message-of.ts'
import type { Digest } from '../formats/digest.ts'
import { corruptContent, ImageError } from '../image-error.ts'
import { TarReader } from '../tar/tar-reader.ts'
import { LayerWriter, type LayerWriterOptions } from './layer-writer.ts'

export interface UnpackTask extends LayerWriterOptions {
  /** The file of the blob. */
  readonly blob: string
  readonly diffId: Digest
}

export interface UnpackedLayer {
  /** Of all files, in bytes. */
  readonly bytes: number
  readonly entries: number
}

const readBytes = 512 * 1024
const decompressedBytes = 256 * 1024

/**
 * Unpacks a layer into an existing folder. Rejects with an ImageError for an archive that is damaged, has another
 * digest than `diffId`, or exceeds the limits; the folder then has a part of the files.
 */
export async function unpackLayer(task: UnpackTask): Promise<UnpackedLayer> {
  const writer = new LayerWriter(task)
  const reader = new TarReader(writer)
  const hash = createHash('sha256')
  const maxArchiveBytes = archiveLimit(task)
  let archiveBytes = 0
  const consume = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      archiveBytes += chunk.length
      if (archiveBytes > maxArchiveBytes) throw corruptContent(`the layer has more than ${task.limits.maxBytes} bytes`)
      hash.update(chunk)
      reader.push(chunk)
    }
  }
  try {
    const source = createReadStream(task.blob, { highWaterMark: readBytes })
    const decompression = decompressionOf(task.blob)
    if (decompression) await pipeline(source, decompression, consume)
    else await pipeline(source, consume)
    reader.finish()
    writer.finish()
  } catch (error) {
    writer.abort()
    throw asImageError(error)
  }
  const found = `sha256:${hash.digest('hex')}`
  if (found !== task.diffId)
    throw corruptContent(`wrong diff id calculated on extraction ${JSON.stringify(found)}, expected ${task.diffId}`)
  return { bytes: writer.bytes, entries: writer.entries }
}

/** Headers and padding take at most 2 KiB an entry; long names and attributes more, but not in all of them. */
const archiveLimit = ({ limits: { maxBytes, maxEntries } }: UnpackTask): number => maxBytes + maxEntries * 2048

/** By the first bytes: media types are not reliable. Undefined for a plain archive. */
export function decompressionOf(blob: string): Duplex | undefined {
  const magic = Buffer.alloc(4)
  const fd = openSync(blob, 'r')
  try {
    readSync(fd, magic, 0, 4, 0)
  } finally {
    closeSync(fd)
  }
  if (magic[0] === 0x1f && magic[1] === 0x8b) return createGunzip({ chunkSize: decompressedBytes })
  if (magic.readUInt32LE(0) === 0xfd2fb528) return zstdDecompression()
  return undefined
}

/** @throws on Node before 22.15, which lacks zstd. */
function zstdDecompression(): Duplex {
  if (typeof createZstdDecompress !== 'function')
    throw new ImageError(
      'FailedPrecondition',
      `the layer is compressed with zstd, which Node ${process.versions.node} cannot read: use Node 22.15 or newer`,
    )
  return createZstdDecompress({ chunkSize: decompressedBytes })
}

/** Errors of decompression are the image's fault; those of the file system are not. */
function asImageError(error: unknown): unknown {
  if (error instanceof ImageError) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return /^(Z_|ERR_ZSTD|ZSTD_)/.test(code) ? corruptContent(`the layer is damaged: ${messageOf(error)}`, error) : error
}
