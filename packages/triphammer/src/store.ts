/**
 * The seam between the library and the databases, as types: for who writes middleware, a store, or a tool on a store. What each verb
 * has to do is said here; `docs/architecture.md` has the invariants. It may change in any minor version before 1.0.
 *
 * @module
 */

export type { Weights } from './core/priority.ts'
export type * from './store/admin.ts'
export type * from './store/facets.ts'
export type * from './store/health.ts'
export type * from './store/store.ts'
export type * from './store/types.ts'
