/** Names of Docker's containers, as dockershim has them: an engine has only one container of a name. */
import type { ContainerMetadata, PodSandboxMetadata } from '#protobuf/cri-runtime_pb.js'

const prefix = 'k8s'
const sandboxContainer = 'POD'

type Pod = Pick<PodSandboxMetadata, 'name' | 'namespace' | 'uid' | 'attempt'>

export const sandboxName = (pod: Pod): string => nameOf(sandboxContainer, pod, pod.attempt)

export const containerName = ({ name, attempt }: Pick<ContainerMetadata, 'name' | 'attempt'>, pod: Pod): string =>
  nameOf(name, pod, attempt)

const nameOf = (container: string, { name, namespace, uid }: Pod, attempt: number): string =>
  [prefix, container, name, namespace, uid, attempt].join('_')
