/** ClusterTrustBundleAttest: writing the trusted certificates of a signer needs the permission `attest` for it. */
import type { V1beta1ClusterTrustBundle } from '@kubernetes/client-node'
import { after } from '../../../lib/flow/after.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { KubeObject, Model } from '../../../machinery/object.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin } from '../plugin.ts'
import { mayWithSigner } from './signer-rights.ts'

type Bundle = Model<V1beta1ClusterTrustBundle>

export const clusterTrustBundleAttest = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'ClusterTrustBundleAttest',
  handles: ['CREATE', 'UPDATE'],
  validate(attributes) {
    const { user, object, old } = attributes
    const { groupResource } = attributes.resource
    if (groupResource.name !== 'clustertrustbundles' || groupResource.group !== 'certificates.k8s.io' || !object) return
    const signer = (object as Bundle).spec?.signerName
    if (!signer || (old && semanticallyEqual(attested(object), attested(old)))) return
    return after(mayWithSigner(authorizer, user, 'attest', signer), (may) => {
      if (!may)
        throw forbiddenWrite(attributes, `user not permitted to attest for signerName ${JSON.stringify(signer)}`)
    })
  },
})

/** The object without the fields that garbage collection and storage migration may change. */
function attested({ metadata, ...rest }: KubeObject): object {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _managed,
    resourceVersion: _version,
    ...kept
  } = metadata
  return { ...rest, metadata: kept }
}
