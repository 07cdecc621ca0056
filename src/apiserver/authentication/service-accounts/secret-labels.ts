/** Records the last use of a legacy token in a label of its Secret (KEP-2799). */
import { StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import type { SecretTokenOptions } from './secret-token.ts'

export interface SecretLabelOptions {
  readonly find: (key: string) => ServedResource
  readonly writer: Writer
  readonly log: (line: string) => void
}

/** Works in the background: requests do not wait for it. */
export function secretLabels({ find, writer, log }: SecretLabelOptions): SecretTokenOptions['recordUse'] {
  const underWay = new Set<string>()
  return ({ namespace, name, uid }, label, date) => {
    if (underWay.has(uid)) return
    underWay.add(uid)
    updateObject(
      { ...writer, resource: find('v1/secrets'), namespace, name, subresource: '' },
      {
        startsFromLive: true,
        change: (live) => {
          const { metadata } = live!
          // A later Secret of the same name has another token.
          if (metadata.uid === uid) metadata.labels = { ...metadata.labels, [label]: date }
          return { object: live! }
        },
      },
    )
      .catch((error) => {
        const isGone = error instanceof StatusError && error.code === 404
        if (!isGone) log(`the secret ${namespace}/${name} could not be labelled as used: ${error}`)
      })
      .finally(() => underWay.delete(uid))
  }
}
