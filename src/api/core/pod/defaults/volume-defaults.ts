/** Defaults of a pod's volumes, by type. */
import { resourceListDefaults } from '../../quota/resource-list.ts'
import { imagePullPolicy } from '../image.ts'
import type { Volume } from '../model.ts'

interface DownwardItem {
  fieldRef?: { apiVersion?: string }
  resourceFieldRef?: { divisor?: string }
}

function downwardItems(items: readonly DownwardItem[] | undefined): void {
  for (const { fieldRef, resourceFieldRef } of items ?? []) {
    if (fieldRef) fieldRef.apiVersion ||= 'v1'
    if (resourceFieldRef) resourceFieldRef.divisor ||= '0'
  }
}

/** Sets the defaults of a volume, in place. A volume without a source becomes an emptyDir. */
export function volumeDefaults(volume: Volume): void {
  const { configMap, secret, projected, downwardAPI, hostPath, ephemeral } = volume
  if (configMap) configMap.defaultMode ??= 0o644
  else if (secret) secret.defaultMode ??= 0o644
  else if (projected) {
    projected.defaultMode ??= 0o644
    for (const { serviceAccountToken, downwardAPI } of projected.sources ?? []) {
      if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= 3600
      if (downwardAPI) downwardItems(downwardAPI.items)
    }
  } else if (downwardAPI) {
    downwardAPI.defaultMode ??= 0o644
    downwardItems(downwardAPI.items)
  } else if (hostPath) hostPath.type ??= ''
  else if (ephemeral) {
    const template = ephemeral.volumeClaimTemplate
    if (template) {
      template.metadata ??= {}
      template.spec ??= {}
      template.spec.resources ??= {}
      template.spec.volumeMode ??= 'Filesystem'
      resourceListDefaults(template.spec.resources.requests)
      resourceListDefaults(template.spec.resources.limits)
    }
  } else rareDefaults(volume)
}

function rareDefaults(volume: Volume): void {
  const { iscsi, rbd, azureDisk, scaleIO, image } = volume
  if (iscsi) iscsi.iscsiInterface ||= 'default'
  if (rbd) rbdDefaults(rbd)
  if (azureDisk) azureDiskDefaults(azureDisk)
  if (scaleIO) scaleIODefaults(scaleIO)
  if (image) image.pullPolicy ||= imagePullPolicy(image.reference ?? '')
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {}
}

/** Sets the defaults of an RBD volume of a pod or PersistentVolume. */
export function rbdDefaults(rbd: { pool?: string; user?: string; keyring?: string }): void {
  rbd.pool ||= 'rbd'
  rbd.user ||= 'admin'
  rbd.keyring ||= '/etc/ceph/keyring'
}

/** Sets the defaults of an Azure disk of a pod or PersistentVolume. */
export function azureDiskDefaults(disk: {
  cachingMode?: string
  kind?: string
  fsType?: string
  readOnly?: boolean
}): void {
  disk.cachingMode ??= 'ReadWrite'
  disk.kind ??= 'Shared'
  disk.fsType ??= 'ext4'
  disk.readOnly ??= false
}

/** Sets the defaults of a ScaleIO volume of a pod or PersistentVolume. */
export function scaleIODefaults(scaleIO: { storageMode?: string; fsType?: string; secretRef?: object | null }): void {
  scaleIO.storageMode ||= 'ThinProvisioned'
  scaleIO.fsType ||= 'xfs'
  // Go encodes it without omitempty.
  scaleIO.secretRef ??= null
}
