/** Writes the snapshot that a member of etcd sends to a file. */
import { open, rename, rm } from 'node:fs/promises'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { SnapshotRequestSchema, SnapshotResponseSchema } from '#protobuf/etcd-rpc_pb.js'
import type { Connection, RpcStream } from '../client/connection.ts'
import type { EtcdError } from '../client/etcd-error.ts'

const path = '/etcdserverpb.Maintenance/Snapshot'
/** Messages that wait for the disk before etcd is asked to stop. */
const maxWaiting = 16

/** Rejects with EtcdError if the snapshot is not complete; then there is no file. */
export async function writeSnapshot(
  connection: Connection,
  file: string,
  progress: (written: number, all: number) => void = () => {},
): Promise<void> {
  const temporary = `${file}.part`
  const target = await open(temporary, 'wx', 0o600)
  try {
    let written = 0
    for await (const { blob, remainingBytes } of messages(connection)) {
      await target.writeFile(blob)
      written += blob.length
      progress(written, written + Number(remainingBytes))
    }
    await target.sync()
    await target.close()
    await rename(temporary, file)
  } catch (error) {
    await target.close().catch(() => {})
    await rm(temporary, { force: true })
    throw error
  }
}

interface Part {
  readonly blob: Uint8Array
  readonly remainingBytes: bigint
}

/** Yields the parts; the last one is a checksum. */
async function* messages(connection: Connection): AsyncGenerator<Part> {
  const waiting: Part[] = []
  let ended: EtcdError | 'whole' | undefined
  let wake = (): void => {}
  const stream: RpcStream = connection.stream(path, {
    message(bytes) {
      waiting.push(fromBinary(SnapshotResponseSchema, bytes))
      if (waiting.length > maxWaiting) stream.pause()
      wake()
    },
    end(error) {
      ended = error
      wake()
    },
    done() {
      ended = 'whole'
      wake()
    },
  })
  try {
    stream.send(toBinary(SnapshotRequestSchema, create(SnapshotRequestSchema)))
    stream.finish()
    while (waiting.length > 0 || !ended) {
      for (let part = waiting.shift(); part; part = waiting.shift()) yield part
      stream.resume()
      if (!ended && waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    stream.close()
  }
  if (ended !== 'whole') throw ended
}
