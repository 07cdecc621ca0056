/** Authorization checks within expressions. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { admissionEnvironment } from '../../../cel/admission/environment.ts'
import { compileExpression } from '../../../cel/admission/expression.ts'
import type { CheckAuthorizer } from '../../../cel/libraries/index.ts'
import { AuthorizerValue } from '../../../cel/libraries/index.ts'
import {
  type AccessAttributes,
  type Authorizer,
  allow,
  type Decision,
  noOpinion,
} from '../../authorization/authorizer.ts'
import { AuthorizationChecks, authorizerBindings, evaluateWithChecks } from './authorizer-variable.ts'

const user = { name: 'me', groups: ['us'] }

/** An authorizer that answers asynchronously and records its requests. */
function slow(answer: (attributes: AccessAttributes) => Decision) {
  const checked: AccessAttributes[] = []
  const authorizer: Authorizer = {
    name: 'slow',
    authorize: async (attributes) => {
      checked.push(attributes)
      return answer(attributes)
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  }
  return { checked, authorizer }
}

function evaluate(source: string, authorizer: Authorizer): unknown {
  const { program, fault } = compileExpression(admissionEnvironment({ params: false, authorizer: true }), source)
  assert.equal(fault, '')
  const attributes = {
    user,
    subresource: 'status',
    namespace: 'ns',
    name: 'one',
    resource: { definition: { group: 'apps', plural: 'deployments' } },
  }
  const bindings = authorizerBindings(
    new AuthorizationChecks(authorizer),
    attributes as unknown as Parameters<typeof authorizerBindings>[1],
  )
  return evaluateWithChecks(() => {
    const outcome = program!.evaluate(bindings)
    return 'error' in outcome ? outcome.error : outcome.value
  })
}

test('evaluation waits for an asynchronous authorizer and repeats no check', async () => {
  const { checked, authorizer } = slow(({ info }) => (info.verb === 'get' ? allow() : noOpinion('why not')))
  const check = (verb: string) => `authorizer.group('').resource('pods').namespace('ns').check('${verb}')`
  assert.equal(
    await evaluate(`${check('get')}.allowed() && ${check('get')}.allowed() && !${check('list')}.allowed()`, authorizer),
    'operation cancelled: actual cost limit exceeded',
  )
  assert.equal(await evaluate(`${check('get')}.allowed() && !${check('list')}.allowed()`, authorizer), true)
  assert.deepEqual(
    checked.slice(-2).map(({ info }) => [info.verb, info.resource, info.namespace, info.isResourceRequest]),
    [
      ['get', 'pods', 'ns', true],
      ['list', 'pods', 'ns', true],
    ],
  )
})

test("checks cover the request's resource, paths, service accounts and selectors", async () => {
  const { checked, authorizer } = slow(() => allow('because'))
  assert.equal(await evaluate("authorizer.requestResource.check('update').reason()", authorizer), 'because')
  await evaluate("authorizer.path('/healthz').check('get').allowed()", authorizer)
  await evaluate(
    "authorizer.serviceAccount('ns', " +
      "'robot').group('').resource('pods').labelSelector('a=b').fieldSelector('spec.x!=y').check('list').allowed()",
    authorizer,
  )
  const [own, path, robot] = checked
  assert.deepEqual(
    [own?.info.group, own?.info.resource, own?.info.subresource, own?.info.namespace, own?.info.name],
    ['apps', 'deployments', 'status', 'ns', 'one'],
  )
  assert.deepEqual([path?.info.isResourceRequest, path?.info.path], [false, '/healthz'])
  assert.equal(robot?.user?.name, 'system:serviceaccount:ns:robot')
  assert.deepEqual(robot?.labelSelector, [{ key: 'a', operator: 'In', values: ['b'] }])
  assert.deepEqual(robot?.fieldSelector, [{ key: 'spec.x', operator: 'NotIn', values: ['y'] }])
})

test('a failing authorizer gives a decision with an error', async () => {
  const failing: Authorizer = {
    ...slow(() => allow()).authorizer,
    authorize: () => Promise.reject(new Error('out of order')),
  }
  assert.equal(await evaluate("authorizer.path('/x').check('get').error()", failing), 'out of order')
})

test('evaluation is synchronous if the authorizer is', () => {
  const quick: CheckAuthorizer = {
    checkPath: () => ({ allowed: true, reason: '' }),
    checkResource: () => ({ allowed: true, reason: '' }),
    serviceAccount: () => quick,
  }
  const { program } = compileExpression(
    admissionEnvironment({ params: false, authorizer: true }),
    "authorizer.path('/x').check('get').allowed()",
  )
  const outcome = evaluateWithChecks(() => program!.evaluate({ authorizer: new AuthorizerValue(quick) }))
  assert.ok(!(outcome instanceof Promise))
})
