/** Claims prepared for allocation: each request with its alternatives, their classes and compiled selectors. */
import { type DeviceSelector, deviceSelector } from '../../../../cel/devices/device-selector.ts'
import { type Constraint, constraintOf } from './constraints.ts'
import type { DeviceClass, ExactRequest, Request, ResourceClaim, Selector } from './devices.ts'
import type { PoolDevice } from './pools.ts'

/** One alternative of a request. */
export interface Alternative {
  /** The name of the request, and the name of the alternative if the request has several. */
  readonly request: string
  readonly subRequest: string | undefined
  readonly wants: ExactRequest
  readonly class: DeviceClass
  /** Returns true if the selectors of class and request match the device. Throws the error of a selector. */
  selects(device: PoolDevice): boolean
}

export interface ClaimToAllocate {
  readonly claim: ResourceClaim
  /** By request, the alternatives in order of preference. */
  readonly requests: readonly (readonly Alternative[])[]
  /** Makes new constraints for each search. */
  constraints(): Constraint[]
}

export const nameOf = ({ request, subRequest }: Alternative): string =>
  subRequest === undefined ? request : `${request}/${subRequest}`

/** Throws an Error with the names of claim and request if they are invalid. */
export function claimToAllocate(
  claim: ResourceClaim,
  classNamed: (name: string) => DeviceClass | undefined,
  selectors: Selectors,
): ClaimToAllocate {
  const key = `${claim.metadata.namespace}/${claim.metadata.name}`
  const { requests = [], constraints = [] } = claim.spec.devices ?? {}
  const alternative = (request: string, subRequest: string | undefined, wants: ExactRequest): Alternative => {
    const found = classNamed(wants.deviceClassName)
    if (!found)
      throw new Error(`claim ${key}, request ${request}: could not retrieve device class ${wants.deviceClassName}`)
    const tests = [
      ...selectors.compiled(found.spec.selectors ?? [], `class ${found.metadata.name}`),
      ...selectors.compiled(wants.selectors ?? [], `claim ${key}`),
    ]
    const verdicts = new Map<string, boolean>()
    const selects = (device: PoolDevice): boolean => {
      let verdict = verdicts.get(device.id)
      if (verdict === undefined) verdicts.set(device.id, (verdict = tests.every((test) => test(device))))
      return verdict
    }
    return { request, subRequest, wants, class: found, selects }
  }
  return {
    claim,
    requests: requests.map(({ name, exactly, firstAvailable = [] }: Request) =>
      exactly
        ? [alternative(name, undefined, exactly)]
        : firstAvailable.map(({ name: sub, ...wants }) => alternative(name, sub, wants)),
    ),
    constraints: () =>
      constraints.map((one, at) => {
        const constraint = constraintOf(one)
        if (!constraint)
          throw new Error(`claim ${key}, constraint #${at}: empty constraint (unsupported constraint type?)`)
        return constraint
      }),
  }
}

/** A cache of compiled selectors: many claims use the same few. */
export class Selectors {
  readonly #compiled = new Map<string, DeviceSelector>()

  /** `of` names the owner of the selectors in errors. */
  compiled(selectors: readonly Selector[], of: string): ((device: PoolDevice) => boolean)[] {
    return selectors.map(({ cel }, at) => {
      const where = `${of}: selector #${at}: CEL`
      const selector = withContext(`${where} compile error`, () => this.#get(cel?.expression ?? ''))
      return ({ device, driver }) => withContext(`${where} runtime error`, () => selector.matches(device, driver))
    })
  }

  #get(expression: string): DeviceSelector {
    let found = this.#compiled.get(expression)
    if (!found) {
      if (this.#compiled.size >= maxCachedSelectors) this.#compiled.clear()
      this.#compiled.set(expression, (found = deviceSelector(expression)))
    }
    return found
  }
}

const maxCachedSelectors = 256

function withContext<T>(where: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
