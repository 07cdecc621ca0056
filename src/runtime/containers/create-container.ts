/** Creates containers: their root file system, their configuration and their record. */
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerConfig } from '#protobuf/cri-runtime_pb.js'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Executor } from '../executors/executor.ts'
import type { HostLimits } from '../host/host-limits.ts'
import type { ContainerImages, RootUsers, UsableImage } from '../images-interface.ts'
import { namespaceFiles } from '../sandboxes/namespaces.ts'
import {
  namespaceOptionsOf,
  type Sandbox,
  sharesProcesses,
  usesHostIpc,
  usesHostNetwork,
} from '../sandboxes/sandbox.ts'
import { cgroupParentOf, hostnameOf } from '../sandboxes/sandboxes.ts'
import { userMappingsOf } from '../sandboxes/user-namespace.ts'
import { withCdiDevices } from '../spec/cdi/index.ts'
import { containerSpec, type NamespacePaths } from '../spec/container-spec.ts'
import { readRootFile } from '../spec/root-files.ts'
import { stopSignalName } from '../spec/stop-signals.ts'
import { resolveUser } from '../spec/user.ts'
import { type Container, nowNs, wrongState } from './container.ts'
import { type Containers, unfinishedVolumes } from './containers.ts'
import { prepareImageVolumes } from './image-volumes.ts'

export interface CreateParts {
  readonly containers: Containers
  readonly executor: Executor
  readonly images: ContainerImages
  readonly limits: HostLimits
  /** Folders of spec files of CDI, of which a later one wins. */
  readonly cdiFolders: readonly string[]
}

/** Rejects, with everything undone, if a part of it fails. */
export async function createContainer(
  parts: CreateParts,
  sandbox: Sandbox,
  config: ContainerConfig,
): Promise<Container> {
  const { containers, images } = parts
  checkName(containers, sandbox, config)
  const reference = config.image?.image ?? ''
  const image = await images.find(reference)
  if (!image) throw new RpcError('NotFound', `failed to resolve image ${JSON.stringify(reference)}: not found`)
  const id = randomBytes(32).toString('hex')
  const folder = containers.folderOf(id)
  mkdirSync(folder, { mode: 0o700 })
  const volumes: string[] = []
  try {
    const users = ownersOf(sandbox)
    const { stated, mounted } = await prepareImageVolumes(images, id, config, users, (volume) => {
      // A runtime that is killed now has no record of it.
      appendFileSync(join(folder, unfinishedVolumes), `${volume}\n`)
      volumes.push(volume)
    })
    const root = await images.prepareRoot(id, image.id, { users })
    const user = await prepare(parts, sandbox, mounted, image, { id, folder, root })
    return containers.add({
      id,
      sandboxId: sandbox.id,
      config: stated,
      ...(volumes.length > 0 && { volumes }),
      logPath: config.logPath && sandbox.config.logDirectory ? join(sandbox.config.logDirectory, config.logPath) : '',
      imageId: image.id,
      imageRef: image.reference,
      stopSignal: stopSignalName(config.stopSignal) || image.defaults.stopSignal || 'SIGTERM',
      user: { uid: user.uid, gid: user.gid, groups: user.groups },
      createdAt: nowNs(),
    })
  } catch (error) {
    for (const one of [...volumes, id]) await images.removeRoot(one).catch(() => {})
    rmSync(folder, { recursive: true, force: true })
    if (error instanceof RpcError) throw error
    throw new RpcError('Unknown', `failed to create container: ${messageOf(error)}`, { cause: error })
  }
}

function checkName(containers: Containers, sandbox: Sandbox, { metadata }: ContainerConfig): void {
  const taken = containers.ofSandbox(sandbox.id).find(({ record }) => {
    const other = record.config.metadata
    return other?.name === metadata?.name && other?.attempt === metadata?.attempt
  })
  if (!taken) return
  const name = JSON.stringify(`${metadata?.name}_${sandbox.id}_${metadata?.attempt}`)
  throw new RpcError(
    'Unknown',
    `failed to reserve container name ${name}: name ${name} is reserved for ${JSON.stringify(taken.id)}`,
  )
}

/** The users to whom the files of images belong; undefined for the machine's. */
function ownersOf({ config, folder }: Sandbox): RootUsers | undefined {
  const users = userMappingsOf(config)
  return users && { namespace: namespaceFiles(folder).user, uid: users.uids.hostId, gid: users.gids.hostId }
}

interface Place {
  readonly id: string
  readonly folder: string
  readonly root: string
}

async function prepare(
  { containers, executor, limits, cdiFolders }: CreateParts,
  sandbox: Sandbox,
  config: ContainerConfig,
  image: UsableImage,
  { id, folder, root }: Place,
) {
  const user = resolveUser(config.linux?.securityContext, image.defaults.user, {
    passwd: readRootFile(root, 'etc/passwd'),
    group: readRootFile(root, 'etc/group'),
  })
  const spec = containerSpec({
    config,
    sandbox: sandbox.config,
    hostname: hostnameOf(sandbox.config),
    image: image.defaults,
    user,
    root,
    paths: sandbox.paths,
    namespaces: namespacePaths(containers, sandbox, config),
    cgroupsPath: `${cgroupParentOf(sandbox.config)}/${id}`,
    cgroupVersion: limits.cgroupVersion,
    minOomScoreAdj: limits.minOomScoreAdj,
    appArmor: limits.appArmor,
  })
  const complete = await withCdiDevices(spec, config, { folders: cdiFolders, executor })
  executor.prepare(folder, complete)
  return { ...user, groups: complete.process.user.additionalGids }
}

function namespacePaths(containers: Containers, sandbox: Sandbox, config: ContainerConfig): NamespacePaths {
  const files = namespaceFiles(sandbox.folder)
  const hasNetwork = !usesHostNetwork(sandbox.config)
  return {
    user: userMappingsOf(sandbox.config) ? files.user : undefined,
    network: hasNetwork ? files.network : undefined,
    uts: hasNetwork ? files.uts : undefined,
    ipc: usesHostIpc(sandbox.config) ? undefined : files.ipc,
    pid: pidNamespace(containers, sandbox, config),
  }
}

function pidNamespace(containers: Containers, sandbox: Sandbox, config: ContainerConfig): NamespacePaths['pid'] {
  const options = config.linux?.securityContext?.namespaceOptions ?? namespaceOptionsOf(sandbox.config)
  switch (options.pid ?? NamespaceMode.POD) {
    case NamespaceMode.NODE:
      return undefined
    case NamespaceMode.TARGET: {
      const target = containers.get(options.targetId ?? '')
      if (target.state !== 'running') throw wrongState(target)
      return `/proc/${target.record.process?.pid}/ns/pid`
    }
    case NamespaceMode.POD:
      return sharesProcesses(sandbox.config) ? `/proc/${sandbox.record.infra?.pid}/ns/pid` : 'new'
    default:
      return 'new'
  }
}
