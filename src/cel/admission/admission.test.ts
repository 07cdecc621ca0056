/** Expressions of admission: budgets, variables, conditions, and object construction. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { adapt } from '../adapt.ts'
import { boolType, dynType } from '../types.ts'
import { admissionEnvironment } from './environment.ts'
import { compileExpression } from './expression.ts'
import { jsonValue, misplacedType } from './json-value.ts'
import { compileConditions, matchConditions } from './match-conditions.ts'
import { runExpressions } from './run.ts'
import { compileVariables, withVariables } from './variables.ts'

const environment = admissionEnvironment({ params: false, authorizer: false, patches: true })
const object = (value: unknown) => ({ object: adapt(value, dynType) })

test('expressions share a budget, which includes the cost of variables', () => {
  const variables = compileVariables(environment, [
    { name: 'sum', expression: 'object.list.map(x, x * 2).filter(x, x > 2).size()' },
  ])
  const all = withVariables(environment, variables.type)
  const twice = [1, 2].map(() => compileExpression(all, 'variables.sum > 1', [boolType]))
  const bindings = object({ list: Array.from({ length: 50 }, (_, i) => i) })
  const costOf = (expressions: typeof twice): number => {
    const run = runExpressions(expressions, bindings, 10_000, variables)
    assert.ok('results' in run && run.results.every((result) => result && 'value' in result && result.value === true))
    return 10_000 - run.remainingBudget
  }
  assert.ok(costOf(twice) < costOf(twice.slice(1)) * 1.5, 'the variable is evaluated once')
  assert.deepEqual(runExpressions(twice, bindings, 100, variables), {
    exhausted: 'validation failed due to running out of cost budget, no further validation rules will be run',
  })
})

test('a failed variable is reported by the expression that reads it', () => {
  const variables = compileVariables(environment, [
    { name: 'bad', expression: 'object.nothing' },
    { name: 'worse', expression: '1 +' },
  ])
  const all = withVariables(environment, variables.type)
  const run = runExpressions(
    ['variables.bad == 1', 'variables.worse == 1', 'variables.bad == 1 || true'].map((source) =>
      compileExpression(all, source),
    ),
    object({}),
    1000,
    variables,
  )
  assert.ok('results' in run)
  const [bad, worse, absorbed] = run.results
  assert.deepEqual(bad, {
    error:
      'expression \'variables.bad == 1\' resulted in error: composited variable "bad" fails to evaluate: no such ' +
      'key: nothing',
  })
  assert.match(
    worse && 'error' in worse ? worse.error : '',
    /composited variable "worse" fails to compile: compilation failed: ERROR: /,
  )
  assert.deepEqual(absorbed, { value: true })
})

test('a false condition takes precedence over errors; errors alone follow the failure policy', () => {
  const match = (failurePolicy: string, ...sources: string[]) =>
    matchConditions(
      {
        conditions: compileConditions(
          environment,
          sources.map((expression) => ({ name: 'c', expression })),
        ),
        failurePolicy,
      },
      object({ a: 1 }),
    )
  assert.deepEqual(match('Fail', 'object.a == 1', 'true'), { matches: true, faults: 0 })
  assert.deepEqual(match('Fail', 'object.b == 1', 'false'), { matches: false, faults: 1 })
  assert.deepEqual(match('Ignore', 'object.b == 1'), { matches: false, faults: 1 })
  assert.deepEqual(match('Fail', 'object.b == 1', 'object.c == 1'), {
    faults: 2,
    error:
      "[expression 'object.b == 1' resulted in error: no such key: b, expression 'object.c == 1' resulted in " +
      'error: no such key: c]',
  })
})

test('constructed objects are converted to JSON, and must be in the fields that their types name', () => {
  const evaluate = (source: string) => {
    const { program, fault } = compileExpression(environment, source)
    assert.equal(fault, '')
    const outcome = program!.evaluate(object({}))
    assert.ok('value' in outcome)
    return outcome.value
  }
  const value = evaluate(
    "Object{spec: Object.spec{n: 1, list: [Object.spec.list{at: duration('90s'), b: b'x'}], ?no: " +
      "optional.none()}, labels: {'a/b': true}}",
  )
  assert.equal(misplacedType(value, 'Object'), undefined)
  assert.deepEqual(jsonValue(value), { spec: { n: 1, list: [{ at: '90s', b: 'eA==' }] }, labels: { 'a/b': true } })
  assert.match(
    misplacedType(evaluate('Object{spec: Object.spec{a: Object.a{}}}'), 'Object') ?? '',
    /unexpected type name "Object.a", expected "Object.spec.a"/,
  )
})
