/** Reviews: a client posts an object and gets it back with the result in its status. */
import type { KubeObject } from '../../../machinery/object.ts'
import { representationFor } from '../../negotiation/choose.ts'
import { unstored } from '../../registry/stored-object.ts'
import { track } from '../../registry/write/write-context.ts'
import { decodeObject } from '../../request/bodies/decode-object.ts'
import { checkNamespace } from '../../request/identity.ts'
import { writeOptions } from '../../request-options/write-options.ts'
import { admit } from '../admitted.ts'
import { type Endpoint, objectResponse, type Target, writeContext } from '../endpoint.ts'

/** Creates the endpoint of a review; `answer` sets the status. */
export const review =
  <T extends KubeObject>(answer: (question: T, target: Target) => void | Promise<void>): Endpoint =>
  async (target) => {
    const { request, resource, services } = target
    const representation = representationFor(request, resource, 'review')
    const options = writeOptions(request.query, 'CreateOptions')
    const question = (await decodeObject(request, resource, options, services.knowsKind)) as T
    checkNamespace(question, resource, request.info.namespace)
    await admit(writeContext(target, options), 'CREATE', question, resource.definition)
    await track(writeContext(target, options), question, undefined)
    await answer(question, target)
    return objectResponse(representation, unstored(resource, question), 201)
  }
