/** Puts a compressed file in the place of a file. */
import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** `FILE` becomes `FILE.gz`. Rejects with what the file system throws; then the file is as it was. */
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
