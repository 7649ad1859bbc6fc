mod openapi;
mod predict;
mod routes;
mod serve;
