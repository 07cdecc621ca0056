import assert from 'node:assert/strict'
import { test } from 'node:test'
import { functionName } from './function-name.ts'

test('names of functions, methods, closures and wrappers are parsed', () => {
  const cases: readonly (readonly [string, string, string | undefined, string, string?])[] = [
    ['main.main', 'main', undefined, 'main'],
    ['main.main.func1', 'main', undefined, 'main', 'func1'],
    ['main.main.func1.2', 'main', undefined, 'main', 'func1.2'],
    ['example.com/shop/cart.(*Cart).Add', 'example.com/shop/cart', '*Cart', 'Add'],
    ['example.com/shop/cart.(*Cart).Add.func2.1', 'example.com/shop/cart', '*Cart', 'Add', 'func2.1'],
    ['example.com/shop/cart.Cart.Total', 'example.com/shop/cart', 'Cart', 'Total'],
    ['main.(*List[...]).Push', 'main', '*List', 'Push'],
    ['main.Map[...]', 'main', undefined, 'Map'],
    ['main.Map[...].func1', 'main', undefined, 'Map', 'func1'],
    ['main.Sum[go.shape.int_0,example.com/x.T]', 'main', undefined, 'Sum'],
    ['gopkg.in/yaml%2ev3.(*parser).parse', 'gopkg.in/yaml.v3', '*parser', 'parse'],
    ['main.(*Server).Handle-fm', 'main', '*Server', 'Handle'],
    ['main.start.gowrap1', 'main', undefined, 'start'],
    ['main.init.0', 'main', undefined, 'init.0'],
    ['main.glob..func1', 'main', undefined, 'glob', 'func1'],
    ['panic', '', undefined, 'panic'],
    ['crosscall2', '', undefined, 'crosscall2'],
    ['k8s.io/client-go/tools/cache.(*controller).Run', 'k8s.io/client-go/tools/cache', '*controller', 'Run'],
  ]
  for (const [full, pkg, receiver, name, closure] of cases) {
    const found = functionName(full)
    assert.deepEqual([found.package, found.receiver, found.name, found.closure], [pkg, receiver, name, closure], full)
  }
  assert.equal(functionName('main.(*Server).Handle-fm').wrapper, 'wrapper of a method value')
  assert.equal(functionName('main.start.gowrap1').wrapper, 'wrapper of a go statement')
  assert.equal(functionName('main.Map[...]').generic, true)
})
