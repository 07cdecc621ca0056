/** References of a pod to objects in its namespace, which its node must read. */
import type { V1Container, V1Pod, V1Volume } from '@kubernetes/client-node'
import type { Model, Wire } from '../../../../machinery/object.ts'

export type Pod = Model<V1Pod> & { readonly status?: ClaimStatuses }
type Volume = Wire<V1Volume>
type Container = Wire<V1Container>

interface ClaimStatuses {
  readonly resourceClaimStatuses?: readonly { readonly name: string; readonly resourceClaimName?: string }[]
  readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string }
}

/** The annotation of mirror pods, which represent static pods. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'

export const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[mirrorAnnotation] !== undefined

const present = (names: readonly (string | undefined)[]): string[] =>
  names.filter((name): name is string => Boolean(name))

/** Secrets of volumes, environment variables and image pulls. */
export function secretsOf({ spec }: Pod): string[] {
  return present([
    ...(spec?.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ]),
    ...(spec?.volumes ?? []).flatMap(volumeSecrets),
  ])
}

const volumeSecrets = (volume: Volume): (string | undefined)[] => [
  volume.azureFile?.secretName,
  volume.cephfs?.secretRef?.name,
  volume.cinder?.secretRef?.name,
  volume.flexVolume?.secretRef?.name,
  ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
  volume.rbd?.secretRef?.name,
  volume.secret?.secretName,
  volume.scaleIO?.secretRef?.name,
  volume.iscsi?.secretRef?.name,
  volume.storageos?.secretRef?.name,
  volume.csi?.nodePublishSecretRef?.name,
]

/** Config maps of volumes and environment variables. */
export function configMapsOf({ spec }: Pod): string[] {
  return present([
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(spec?.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ])
}

/** Named claims, and those generated for ephemeral volumes. */
export const claimsOf = ({ metadata, spec }: Pod): string[] =>
  present(
    (spec?.volumes ?? []).map(
      ({ name, persistentVolumeClaim, ephemeral }) =>
        persistentVolumeClaim?.claimName ?? (ephemeral && `${metadata.name}-${name}`),
    ),
  )

/** Named resource claims, and those generated for the pod. */
export function resourceClaimsOf({ spec, status }: Pod): string[] {
  const generated = new Map(
    status?.resourceClaimStatuses?.map(({ name, resourceClaimName }) => [name, resourceClaimName]),
  )
  return present([
    ...(spec?.resourceClaims ?? []).map(({ name, resourceClaimName }) => resourceClaimName ?? generated.get(name)),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ])
}

/** All containers, ephemeral ones included. */
const containersOf = (spec: Pod['spec']): readonly Pick<Container, 'env' | 'envFrom'>[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]
