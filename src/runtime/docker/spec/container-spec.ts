/** A container of a pod as the engine creates it. */
import type { ContainerConfig, PodSandboxConfig } from '#protobuf/cri-runtime_pb.js'
import { stopSignalName } from '../../spec/stop-signals.ts'
import type { ContainerUser } from '../../state/records.ts'
import type { Labels } from '../engine-types.ts'
import { engineMounts } from './mounts.ts'
import { containerNamespaces } from './namespaces.ts'
import { cgroupParentOf, oomScoreOf, resourceSettings } from './resources.ts'
import { securityOptions } from './security.ts'

export interface ContainerSpecInputs {
  readonly config: ContainerConfig
  readonly sandboxId: string
  readonly sandbox: PodSandboxConfig
  readonly labels: Labels
  readonly user: ContainerUser
  /** The minor version of the engine's API. */
  readonly version: number
  readonly cgroupDriver: string
  readonly minOomScoreAdj: number | undefined
  /** The runtime of the sandbox; '' for the default of the engine. */
  readonly runtime: string
}

/**
 * The engine's own log, from which that of CRI is written. Nothing is lost as long as this runtime is not stopped for
 * longer than it takes a container to fill it.
 */
const engineLog = { Type: 'json-file', Config: { 'max-size': '32m', 'max-file': '2' } }

/** Throws an Error for what Docker cannot do. */
export function containerSpec(inputs: ContainerSpecInputs): object {
  const { config, sandbox, labels, user } = inputs
  const context = config.linux?.securityContext
  if (context?.privileged && !sandbox.linux?.securityContext?.privileged)
    throw new Error('no privileged container allowed in sandbox')
  const stopSignal = stopSignalName(config.stopSignal)
  return {
    Image: config.image?.image ?? '',
    ...(config.command.length > 0 && { Entrypoint: config.command }),
    ...(config.args.length > 0 && { Cmd: config.args }),
    Env: config.envs.map(({ key, value }) => `${key}=${Buffer.from(value)}`),
    WorkingDir: config.workingDir,
    User: `${user.uid}:${user.gid}`,
    Labels: labels,
    Tty: config.tty,
    OpenStdin: config.stdin,
    StdinOnce: config.stdinOnce,
    ...(stopSignal && { StopSignal: stopSignal }),
    // Probes are the kubelet's.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostConfig(inputs),
  }
}

function hostConfig({ config, sandboxId, sandbox, ...inputs }: ContainerSpecInputs): object {
  const { resources, securityContext } = config.linux ?? {}
  const { user, version, cgroupDriver, minOomScoreAdj, runtime } = inputs
  return {
    ...containerNamespaces(sandboxId, sandbox, config),
    ...(securityContext && securityOptions(securityContext)),
    ...(resources && resourceSettings(resources)),
    ...(resources && { OomScoreAdj: oomScoreOf(Number(resources.oomScoreAdj), minOomScoreAdj) }),
    GroupAdd: user.groups.filter((group) => group !== user.gid).map(String),
    CgroupParent: cgroupParentOf(sandbox.linux?.cgroupParent ?? '', cgroupDriver),
    Mounts: engineMounts(config.mounts, version),
    Devices: config.devices.map(({ hostPath, containerPath, permissions }) => ({
      PathOnHost: hostPath,
      PathInContainer: containerPath,
      CgroupPermissions: permissions,
    })),
    ...(config.CDIDevices.length > 0 && {
      DeviceRequests: [{ Driver: 'cdi', DeviceIDs: config.CDIDevices.map(({ name }) => name) }],
    }),
    RestartPolicy: { Name: 'no' },
    LogConfig: engineLog,
    ...(runtime && { Runtime: runtime }),
  }
}
