/** `typernetes/testing`: a client for unit tests, with the API machinery behind it. */
export { type FakeClient, type FakeClientOptions, fakeClient } from './fake-client.ts'
