/** AlwaysAdmit and AlwaysDeny, which do not read the object. For tests; Kubernetes has deprecated them. */

import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionOptions } from '../index.ts'
import type { AdmissionPlugin, PluginFactory, Step } from '../plugin.ts'

const deprecated = (name: string): string =>
  `${name} admission controller is deprecated. Please remove this controller from your configuration files and scripts.`

function alwaysAdmit(): AdmissionPlugin {
  return { name: 'AlwaysAdmit' }
}

/** Admits the server's own writes: it could not start otherwise. */
const deny: Step = (attributes) => {
  if (attributes.user.name !== 'system:apiserver')
    throw forbiddenWrite(attributes, 'admission control is denying all modifications')
}

function alwaysDeny(): AdmissionPlugin {
  return { name: 'AlwaysDeny', mutate: deny, validate: deny }
}

const warned =
  (name: string, make: () => AdmissionPlugin): PluginFactory<AdmissionOptions> =>
  ({ log }) => {
    log(deprecated(name))
    return make()
  }

export const alwaysPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  AlwaysAdmit: warned('AlwaysAdmit', alwaysAdmit),
  AlwaysDeny: warned('AlwaysDeny', alwaysDeny),
}
