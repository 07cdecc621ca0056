/**
 * Checkpoints: the state of a running container in an archive, in the form of containerd and CRI-O, which
 * `checkpointctl` reads. The container pauses meanwhile, so that memory and files belong together, and goes on.
 */
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../../lib/explained-error.ts'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Container } from '../containers/container.ts'
import type { Checkpointing, Executor } from '../executors/executor.ts'
import type { ContainerImages } from '../images-interface.ts'
import { writeCheckpointArchive } from './checkpoint-archive.ts'

export interface CheckpointOptions {
  readonly executor: Executor
  readonly images: Pick<ContainerImages, 'packChanges'>
  /** The folder of checkpoints that are not complete, on a disk: they have the memory of containers. */
  readonly folder: string
}

export interface CheckpointTarget {
  /** The path of the archive, which replaces one of that name. */
  readonly location: string
  /** The limit for the dump of the memory, in ms; 0: two minutes. */
  readonly timeoutMs: number
}

const defaultTimeoutMs = 120_000

/**
 * Writes the archive; a failure leaves nothing.
 * @throws an RpcError: Unimplemented if the executor cannot, FailedPrecondition if the container does not run.
 */
export async function checkpointContainer(
  options: CheckpointOptions,
  container: Container,
  { location, timeoutMs }: CheckpointTarget,
): Promise<void> {
  const { executor, images, folder } = options
  const { id } = container
  if (!location.startsWith('/')) throw new RpcError('InvalidArgument', 'the location of a checkpoint must be a path')
  if (container.state !== 'running')
    throw new RpcError('FailedPrecondition', `container ${JSON.stringify(id)} is ${container.state}, not running`)
  const checkpointing = requireCheckpointing(executor)
  const work = join(folder, id)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await makeOwnFolder(work, id)
  try {
    await checkpointing.pause(id)
    try {
      const paths = { images: join(work, 'checkpoint'), work }
      await mkdir(paths.images, { mode: 0o700 })
      await checkpointing.dump(id, paths, timeoutMs > 0 ? timeoutMs : defaultTimeoutMs)
      await images.packChanges(id, join(work, 'rootfs-diff.tar'))
    } finally {
      await checkpointing.resume(id)
    }
    await writeCheckpointArchive(container, executor, work)
    await moveFile(join(work, 'archive'), location)
  } catch (error) {
    throw new RpcError('Unknown', `cannot checkpoint container ${JSON.stringify(id)}: ${messageOf(error)}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Lets containers go on that an earlier runtime has paused, and removes its incomplete checkpoints. */
export async function endInterruptedCheckpoints(
  { executor, folder }: Omit<CheckpointOptions, 'images'>,
  log: Log,
): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const id of names) {
    await executor.checkpoints
      ?.resume(id)
      .catch((error: unknown) => log(`cannot resume container ${id}: ${messageOf(error)}`, 'error'))
    await rm(join(folder, id), { recursive: true, force: true })
  }
}

function requireCheckpointing({ name, checkpoints }: Executor): Checkpointing {
  if (checkpoints) return checkpoints
  const problem = name === 'crun' ? 'this crun is built without criu' : `the executor ${name} has no checkpoints`
  throw new RpcError('Unimplemented', `${problem}: use runc with criu (apt-get install runc criu)`)
}

async function makeOwnFolder(path: string, id: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    throw new RpcError('Aborted', `a checkpoint of container ${JSON.stringify(id)} is being made: try again later`)
  }
}

/** The file appears complete, also on another file system. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    const unfinished = join(dirname(to), `.${basename(to)}.unfinished`)
    try {
      await copyFile(from, unfinished)
      await rename(unfinished, to)
    } catch (failure) {
      await rm(unfinished, { force: true })
      throw failure
    }
  }
}
