/** Compresses a file in place. */
import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** Replaces `FILE` with `FILE.gz`. Rejects with the file system's error; the file is unchanged then. */
export async function compressFile(file: string): Promise<void> {
  const target = `${file}.gz`
  const unfinished = `${target}.tmp`
  try {
    await pipeline(createReadStream(file), createGzip(), createWriteStream(unfinished, { mode: 0o600 }))
    renameSync(unfinished, target)
    rmSync(file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}
