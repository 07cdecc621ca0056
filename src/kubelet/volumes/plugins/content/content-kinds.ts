/** configMap, secret and downwardAPI volumes. */

import { configMapFiles, secretFiles, standardMode } from '../../content/key-files.ts'
import { notFoundMessage } from '../../content/not-found.ts'
import { type PodFields, podFieldFiles } from '../../content/pod-fields.ts'
import type { VolumeObjects } from '../../objects/volume-objects.ts'
import type { ContentKind } from './content-volume.ts'

export const configMapKind = (objects: Pick<VolumeObjects, 'configMap'>): ContentKind => ({
  name: 'kubernetes.io/configmap',
  isInMemory: false,
  supports: ({ volume }) => volume?.configMap !== undefined,
  async payload({ pod, spec }) {
    const { name = '', items, defaultMode = standardMode, optional = false } = spec.volume?.configMap ?? {}
    const configMap = await objects.configMap(pod.metadata.namespace ?? '', name)
    if (!configMap && !optional) throw new Error(notFoundMessage('configmap', name))
    return configMapFiles(configMap, { items, defaultMode, isOptional: optional })
  },
})

export const secretKind = (objects: Pick<VolumeObjects, 'secret'>): ContentKind => ({
  name: 'kubernetes.io/secret',
  isInMemory: true,
  supports: ({ volume }) => volume?.secret !== undefined,
  async payload({ pod, spec }) {
    const { secretName = '', items, defaultMode = standardMode, optional = false } = spec.volume?.secret ?? {}
    const secret = await objects.secret(pod.metadata.namespace ?? '', secretName)
    if (!secret && !optional) throw new Error(notFoundMessage('secret', secretName))
    return secretFiles(secret, { items, defaultMode, isOptional: optional })
  },
})

export const downwardApiKind = (fields: PodFields): ContentKind => ({
  name: 'kubernetes.io/downward-api',
  isInMemory: true,
  supports: ({ volume }) => volume?.downwardAPI !== undefined,
  payload({ pod, spec }) {
    const { items = [], defaultMode = standardMode } = spec.volume?.downwardAPI ?? {}
    return podFieldFiles(pod, items, defaultMode, fields)
  },
})
