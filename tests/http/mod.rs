mod chat;
mod faults;
mod metrics;
mod openapi;
mod predict;
mod routes;
mod secrets;
mod serve;
