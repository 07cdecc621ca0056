/** The archive of a checkpoint: images of criu, changed files, the log, and documents that describe the container. */
import { existsSync, lstatSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Container } from '../containers/container.ts'
import type { Executor } from '../executors/executor.ts'
import { byteString, fileEntry, plainEntry, TarFile } from '../images/index.ts'

/** Files of the dump, and of the container, that the archive has at its top. */
const optionalMembers = ['dump.log', 'stats-dump', 'rootfs-diff.tar'] as const

const rfc3339 = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString()

/** Writes the file `archive` into the folder, of what the folder has and of documents. */
export async function writeCheckpointArchive(container: Container, executor: Executor, folder: string): Promise<void> {
  for (const [name, document] of Object.entries(documentsOf(container, executor)))
    writeFileSync(join(folder, name), JSON.stringify(document), { mode: 0o600 })
  const archive = await TarFile.create(join(folder, 'archive'))
  const add = async (name: string, path: string): Promise<void> => {
    const entry = fileEntry(byteString(name), byteString(path), lstatSync(path), undefined)
    if (entry) await archive.add(entry, path)
  }
  try {
    for (const name of ['spec.dump', 'config.dump', 'status.dump']) await add(name, join(folder, name))
    for (const name of optionalMembers) if (existsSync(join(folder, name))) await add(name, join(folder, name))
    const { logPath } = container.record
    if (logPath !== '' && existsSync(logPath)) await add('container.log', logPath)
    await archive.add(plainEntry('checkpoint/', { type: 'directory', mode: 0o700 }))
    for (const name of readdirSync(join(folder, 'checkpoint')).sort())
      await add(`checkpoint/${name}`, join(folder, 'checkpoint', name))
    await archive.finish()
  } catch (error) {
    await archive.close()
    throw error
  }
}

/** In the form of github.com/checkpoint-restore/checkpointctl/lib. */
function documentsOf({ record, folder }: Container, executor: Executor): Readonly<Record<string, object>> {
  const { id, config, imageId, imageRef, createdAt, startedAt = 0n, process } = record
  const name = config.metadata?.name ?? ''
  const spec = executor.specOf(folder)
  return {
    'spec.dump': {
      ...spec,
      annotations: {
        ...spec.annotations,
        'io.kubernetes.cri.container-name': name,
        'io.kubernetes.cri.container-type': 'container',
        'io.kubernetes.cri.sandbox-id': record.sandboxId,
      },
    },
    'config.dump': {
      id,
      name,
      rootfsImage: imageId,
      rootfsImageRef: imageRef,
      rootfsImageName: config.image?.userSpecifiedImage || config.image?.image || imageRef,
      runtime: executor.name,
      createdTime: rfc3339(createdAt),
      checkpointedTime: new Date().toISOString(),
      restoredTime: '0001-01-01T00:00:00Z',
      restored: false,
    },
    'status.dump': {
      CreatedAt: Number(createdAt),
      StartedAt: Number(startedAt),
      FinishedAt: 0,
      ExitCode: 0,
      Pid: process?.pid ?? 0,
      Reason: '',
      Message: '',
    },
  }
}
