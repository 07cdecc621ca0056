/**
 * AlwaysPullImages: sets the pull policy Always, so that a pod can use a private image on its node only with its own
 * pull credentials.
 */
import { internal } from '../../../../machinery/status-error.ts'
import { notSupported } from '../../../../machinery/validation/field-error.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import type { AdmissionPlugin } from '../../plugin.ts'
import { type PodWithSpec, writtenPod } from '../pod-write.ts'

const always = 'Always'

export const alwaysPullImages = (pods: ServedResource): AdmissionPlugin => {
  /** On an update, only pods with new images: the others were pulled before. */
  const podOf = (attributes: AdmissionAttributes): PodWithSpec | undefined => {
    const pod = writtenPod(pods, attributes)
    if (!pod || attributes.operation !== 'UPDATE') return pod
    const known = new Set(imagesOf(attributes.old as PodWithSpec).map(({ image }) => image))
    return imagesOf(pod).every(({ image }) => known.has(image)) ? undefined : pod
  }
  return {
    name: 'AlwaysPullImages',
    handles: ['CREATE', 'UPDATE'],
    mutate(attributes) {
      const pod = podOf(attributes)
      if (pod) for (const { set } of imagesOf(pod)) set()
    },
    validate(attributes) {
      const pod = podOf(attributes)
      const texts = (pod ? imagesOf(pod) : [])
        .filter(({ policy }) => policy !== always)
        .map(({ path, policy }) => {
          const { field, message } = notSupported(path, policy ?? '', [always])
          return forbiddenWrite(attributes, `${field}: ${message}`).message
        })
      if (texts.length) throw internal(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
    },
  }
}

interface UsedImage {
  readonly image: string | undefined
  readonly path: string
  readonly policy: string | undefined
  readonly set: () => void
}

/** The images of init, regular and ephemeral containers, and of volumes. */
function imagesOf({ spec }: PodWithSpec): UsedImage[] {
  const containers = (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, i) => ({
      image: container.image,
      path: `spec.${list}[${i}].imagePullPolicy`,
      policy: container.imagePullPolicy,
      set: () => {
        container.imagePullPolicy = always
      },
    })),
  )
  const volumes = (spec.volumes ?? []).flatMap(({ image }, i) =>
    image
      ? {
          image: image.reference,
          path: `spec.volumes[${i}].image.pullPolicy`,
          policy: image.pullPolicy,
          set: () => {
            image.pullPolicy = always
          },
        }
      : [],
  )
  return [...containers, ...volumes]
}
