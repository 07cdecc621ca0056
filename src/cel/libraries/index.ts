/** Kubernetes' libraries for CEL, beside the language's own: what every expression of 1.36 may use. */
import type { Library } from '../library.ts'
import { authorizerLibrary, authorizerSelectorsLibrary } from './authorizer.ts'
import { cidrLibrary } from './cidr.ts'
import { ipLibrary } from './ip.ts'
import { listExtensionsLibrary } from './list-extensions.ts'
import { listsLibrary } from './lists.ts'
import { namedFormatsLibrary } from './named-formats.ts'
import { quantityLibrary } from './quantity.ts'
import { regexLibrary } from './regex.ts'
import { semverLibrary } from './semver.ts'
import { setsLibrary } from './sets.ts'
import { stringsLibrary } from './strings.ts'
import { urlLibrary } from './url.ts'

export type { CheckAuthorizer, CheckDecision, ResourceAttributes } from './authorizer.ts'
export { AuthorizerValue, authorizerType, ResourceCheckValue, resourceCheckType } from './authorizer.ts'
/** Only mutating admission policies have this one, too. */
export { jsonPatchLibrary } from './jsonpatch.ts'

/** The libraries of the base environment, in the order in which versions brought them. */
export const kubernetesLibraries: readonly Library[] = [
  urlLibrary,
  regexLibrary,
  listsLibrary,
  authorizerLibrary,
  quantityLibrary,
  stringsLibrary,
  setsLibrary,
  ipLibrary,
  cidrLibrary,
  namedFormatsLibrary,
  authorizerSelectorsLibrary,
  semverLibrary,
  listExtensionsLibrary,
]
