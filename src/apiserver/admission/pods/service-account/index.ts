/** ServiceAccount: pods run with an existing service account, and get its token and its pull secrets. */
import type { PodSpec } from '../../../../api/core/pod/model.ts'
import { after } from '../../../../lib/flow/after.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../../plugin.ts'
import { isMirrorPod, type PodWithSpec } from '../pod-write.ts'
import { type Account, Accounts, defaultAccount } from './accounts.ts'
import { environmentFault, namesSecrets, secretFault } from './secret-references.ts'
import { mountToken } from './token-volume.ts'

export class ServiceAccount implements AdmissionPlugin {
  readonly name = 'ServiceAccount'
  readonly handles = ['CREATE', 'UPDATE'] as const
  readonly #pods: ServedResource
  readonly #accounts: Accounts

  constructor(sources: PluginSources) {
    this.#pods = sources.find('v1/pods')
    this.#accounts = new Accounts(sources)
  }

  start(): Promise<void> {
    return this.#accounts.start()
  }

  stop(): void {
    this.#accounts.stop()
  }

  mutate(attributes: AdmissionAttributes): void | Promise<void> {
    const { operation, subresource } = attributes
    const pod = operation === 'CREATE' && subresource === '' ? this.#podOf(attributes) : undefined
    if (!pod) return
    if (isMirrorPod(pod)) return checkMirror(attributes, pod.spec)
    const { spec } = pod
    spec.serviceAccountName ||= defaultAccount
    spec.serviceAccount = spec.serviceAccountName
    return this.#withAccount(attributes, spec, (account) => {
      if (spec.automountServiceAccountToken ?? account.automount ?? true) mountToken(spec)
      if (!spec.imagePullSecrets?.length && account.pullSecrets.length)
        spec.imagePullSecrets = account.pullSecrets.map((name) => ({ name }))
      checkSecrets(attributes, spec, account)
    })
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    const { operation, subresource } = attributes
    if (operation === 'UPDATE' ? subresource !== 'ephemeralcontainers' : subresource !== '') return
    const pod = this.#podOf(attributes)
    if (!pod) return
    if (operation === 'CREATE' && isMirrorPod(pod)) return checkMirror(attributes, pod.spec)
    const { spec } = pod
    if (!spec.serviceAccountName)
      throw forbiddenWrite(
        attributes,
        `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ''}`,
      )
    const checkReferences = operation === 'CREATE' ? checkSecrets : checkEnvironment
    return this.#withAccount(attributes, spec, (account) => checkReferences(attributes, spec, account))
  }

  #podOf({ resource, object }: AdmissionAttributes): PodWithSpec | undefined {
    return resource === this.#pods && object && 'spec' in object && object.spec ? (object as PodWithSpec) : undefined
  }

  #withAccount(
    attributes: AdmissionAttributes,
    { serviceAccountName: name = '' }: PodSpec,
    next: (account: Account) => void,
  ): void | Promise<void> {
    const { namespace } = attributes
    return after(this.#accounts.get(namespace, name), (account) => {
      if (!account)
        throw forbiddenWrite(
          attributes,
          `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
        )
      next(account)
    })
  }
}

const checkSecrets = (attributes: AdmissionAttributes, spec: PodSpec, { allowed }: Account): void =>
  check(attributes, allowed && secretFault(spec, allowed))

/** Only ephemeral containers are added by updates. */
const checkEnvironment = (attributes: AdmissionAttributes, spec: PodSpec, { allowed }: Account): void =>
  check(attributes, allowed && environmentFault('ephemeral container', spec.ephemeralContainers ?? [], allowed))

function check(attributes: AdmissionAttributes, fault: string | undefined): void {
  if (fault) throw forbiddenWrite(attributes, fault)
}

/** Mirror pods represent static pods of a kubelet, which cannot use API objects. */
function checkMirror(attributes: AdmissionAttributes, spec: PodSpec): void {
  if (spec.serviceAccountName) throw forbiddenWrite(attributes, 'a mirror pod may not reference service accounts')
  if (namesSecrets(spec)) throw forbiddenWrite(attributes, 'a mirror pod may not reference secrets')
  if (
    spec.volumes?.some(({ projected }) => projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken))
  ) {
    throw forbiddenWrite(attributes, 'a mirror pod may not use ServiceAccountToken volume projections')
  }
}
